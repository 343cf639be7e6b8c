#include "scenarios/dump.hpp"

#include <fmt/format.h>

#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

std::string_view verb_name(CollectiveVerb verb) {
    constexpr std::string_view names[] = {"all_gather", "reduce_scatter", "all_reduce", "sync"};
    return names[static_cast<std::size_t>(verb)];
}

std::string_view family_name(GroupFamily family) {
    constexpr std::string_view names[group_family_count] = {"local", "data",      "pipeline",
                                                            "model", "embedding", "expert_data"};
    return names[static_cast<std::size_t>(family)];
}

std::string instructions_table(const Workload& workload) {
    Table table({"stage", "instructions", "works", "sends", "receives", "collectives"});
    for (std::size_t stage = 0; stage < workload.programs.size(); ++stage) {
        std::array<std::size_t, 6> of{};
        const auto& instructions = workload.programs[stage].instructions;
        for (const Instruction& instruction : instructions) ++of[static_cast<std::size_t>(instruction.op)];
        const auto count = [&](Op op) { return fmt::format("{}", of[static_cast<std::size_t>(op)]); };
        table.add({fmt::format("{}", stage), fmt::format("{}", instructions.size()), count(Op::work), count(Op::send),
                   count(Op::receive), count(Op::collective)});
    }
    return table.render(TableFormat::text);
}

}  // namespace

std::string workload_dump(const Workload& workload) {
    std::string text = fmt::format("ranks {}, parameters {:.4g}, micro-batches {}, stage message {} B\n",
                                   workload.layout.rank_count(), workload.training.model.parameters(),
                                   workload.training.micro_batches(), workload.stage_message.value);
    text += fmt::format("model FLOPs per token {:.6g}, hardware FLOPs per token {:.6g}\n\n", workload.flops_per_token,
                        workload.hardware_flops_per_token);
    text += instructions_table(workload) + "\n";
    Table works({"work", "segments", "operators"});
    for (const Work& work : workload.works) {
        std::size_t operators = 0;
        for (const Segment& segment : work.segments) operators += segment.operators.size();
        works.add({work.name, fmt::format("{}", work.segments.size()), fmt::format("{}", operators)});
    }
    text += works.render(TableFormat::text) + "\n";
    Table collectives({"collective", "family", "bytes"});
    for (const GroupCollective& collective : workload.collectives)
        collectives.add({std::string(verb_name(collective.verb)), std::string(family_name(collective.family)),
                         fmt::format("{}", collective.bytes.value)});
    return text + collectives.render(TableFormat::text);
}

std::string timeline_dump(const Timeline& timeline, const Workload& workload) {
    std::string text = fmt::format("end {} ps, events {}, fingerprint {:016x}\n\n", timeline.end.value, timeline.events,
                                   timeline.fingerprint);
    std::vector<std::string> columns{"rank", "stage"};
    for (std::size_t part = 0; part < part_count; ++part)
        columns.push_back(fmt::format("{}_ps", name(static_cast<Part>(part))));
    columns.emplace_back("last_arrivals");
    Table table(columns);
    for (std::uint32_t rank = 0; rank < timeline.parts.size(); ++rank) {
        std::vector<std::string> row{fmt::format("{}", rank),
                                     fmt::format("{}", workload.layout.coordinate(RankId{rank}).pipeline)};
        for (const SimDuration part : timeline.parts[rank]) row.push_back(fmt::format("{}", part.value));
        row.push_back(fmt::format("{}", timeline.last_arrivals[rank]));
        table.add(std::move(row));
    }
    return text + table.render(TableFormat::text);
}

}  // namespace rehearse

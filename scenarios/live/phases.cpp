#include "scenarios/live/phases.hpp"

#include <fmt/format.h>

#include "models/workload/price.hpp"
#include "runtime/local_fabric.hpp"

namespace rehearse {

namespace {

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

double seconds(const Timeline& timeline, Part part) {
    double sum = 0;
    for (const PartTimes& parts : timeline.parts) sum += parts[static_cast<std::size_t>(part)].seconds();
    return sum / static_cast<double>(timeline.parts.size());
}

std::string milliseconds(double seconds) { return seconds > 0 ? fmt::format("{:.3f}", 1e3 * seconds) : "-"; }

struct Comparison {
    Comparison(const char* what, bool predicts)
        : table(predicts ? std::vector<std::string>{what, "measured ms", "predicted ms", "error"}
                         : std::vector<std::string>{what, "measured ms"}),
          is_predicted(predicts) {}

    void add(std::string_view what, double measured, double predicted) {
        if (measured == 0 && predicted == 0) return;
        std::vector<std::string> row{std::string(what), milliseconds(measured)};
        if (is_predicted) {
            row.push_back(milliseconds(predicted));
            row.push_back(measured > 0 && predicted > 0 ? fmt::format("{:+.1f} %", 100 * error_of(measured, predicted))
                                                        : "-");
        }
        table.add(row);
    }

    Table table;
    bool is_predicted;
};

}  // namespace

std::string_view name(LivePhase phase) {
    static constexpr std::string_view names[live_phase_count] = {
        "gate",     "permutation", "dispatch",  "experts",  "combine", "attention", "other operators",
        "reduction", "optimizer",  "policies", "paging",  "waiting"};
    return names[static_cast<std::size_t>(phase)];
}

LivePhase phase_of(std::string_view operation) {
    if (begins(operation, "gate") || operation == "top-k") return LivePhase::gate;
    if (begins(operation, "permute") || begins(operation, "unpermute")) return LivePhase::permutation;
    if (operation == "dispatch" || operation == "streamed dispatch") return LivePhase::dispatch;
    if (begins(operation, "expert") || begins(operation, "swiglu")) return LivePhase::experts;
    if (operation == "combine") return LivePhase::combine;
    for (const std::string_view prefix : {"qkv", "output", "rotary", "flash"}) {
        if (begins(operation, prefix)) return LivePhase::attention;
    }
    if (operation == "all-reduce" || operation == "reduce-scatter" || operation == "all-gather" ||
        operation == "reduction")
        return LivePhase::reduction;
    if (operation == "optimizer") return LivePhase::optimizer;
    for (const std::string_view act : {"balancer", "migration", "replicas", "plan of pages"}) {
        if (operation == act) return LivePhase::policies;
    }
    if (operation == "pages") return LivePhase::paging;
    return begins(operation, "wait") ? LivePhase::waiting : LivePhase::other_operators;
}

OperatorTimes measured_operators(const LiveReport& report) {
    OperatorTimes times;
    for (std::size_t i = 0; i < report.operations.size(); ++i) times[report.operations[i].name] += report.seconds(i);
    return times;
}

OperatorTimes predicted_operators(const Workload& workload, const Placement& placement, const Cluster& cluster,
                                  const DeviceProfile& profile, const Timeline& timeline) {
    OperatorTimes times;
    const LocalFabric fabric = local_fabric(workload.training.parallel, workload.layout, placement, cluster);
    for (const Instruction& instruction : workload.programs.front().instructions) {
        if (instruction.op != Op::work) continue;
        for (const PricedOperator& priced :
             price_operators(workload, workload.works[instruction.index], profile, fabric)) {
            if (priced.op == nullptr)
                times[priced.collective == LocalCollectiveKind::dispatch ? "dispatch" : "combine"] += priced.seconds;
            else if (std::string_view(priced.op->name) == "policies")
                times[instruction.part == Part::data ? "pages" : "balancer"] += priced.seconds;
            else times[priced.op->name] += priced.seconds;
        }
    }
    times["reduction"] = seconds(timeline, Part::dp_exposed);
    times["wait"] = seconds(timeline, Part::straggler_wait);
    return times;
}

PhaseTimes phases_of(const OperatorTimes& operators, double step) {
    PhaseTimes times;
    for (const auto& [name, seconds] : operators) times[phase_of(name)] += seconds;
    times.step = step;
    return times;
}

double error_of(double measured, double predicted) { return predicted / measured - 1; }

Table phase_table(const PhaseTimes& measured, const PhaseTimes* predicted) {
    Comparison rows("phase", predicted != nullptr);
    for (std::size_t i = 0; i < live_phase_count; ++i)
        rows.add(name(static_cast<LivePhase>(i)), measured.phases[i], predicted == nullptr ? 0 : predicted->phases[i]);
    rows.add("step", measured.step, predicted == nullptr ? 0 : predicted->step);
    return rows.table;
}

Table operator_table(const OperatorTimes& measured, const OperatorTimes* predicted) {
    Comparison rows("operator", predicted != nullptr);
    OperatorTimes all = measured;
    if (predicted != nullptr) all.insert(predicted->begin(), predicted->end());
    const auto time_in = [](const OperatorTimes& times, const std::string& name) {
        const auto at = times.find(name);
        return at == times.end() ? 0 : at->second;
    };
    for (const auto& [name, ignored] : all)
        rows.add(name, time_in(measured, name), predicted == nullptr ? 0 : time_in(*predicted, name));
    return rows.table;
}

}  // namespace rehearse

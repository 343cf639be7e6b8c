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

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }

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
    if (operation == "all-reduce" || operation == "reduce-scatter" || operation == "all-gather")
        return LivePhase::reduction;
    if (operation == "optimizer") return LivePhase::optimizer;
    for (const std::string_view act : {"balancer", "migration", "replicas", "plan of pages"}) {
        if (operation == act) return LivePhase::policies;
    }
    if (operation == "pages") return LivePhase::paging;
    return begins(operation, "wait") ? LivePhase::waiting : LivePhase::other_operators;
}

PhaseTimes measured_phases(const LiveReport& report) {
    PhaseTimes times;
    for (std::size_t i = 0; i < report.operations.size(); ++i)
        times[phase_of(report.operations[i].name)] += report.seconds(i);
    times.step = report.step_seconds[report.median_step()];
    return times;
}

PhaseTimes predicted_phases(const Workload& workload, const Placement& placement, const Cluster& cluster,
                            const DeviceProfile& profile, const Timeline& timeline) {
    PhaseTimes times;
    const LocalFabric fabric = local_fabric(workload.training.parallel, workload.layout, placement, cluster);
    for (const Instruction& instruction : workload.programs.front().instructions) {
        if (instruction.op != Op::work) continue;
        for (const PricedOperator& priced :
             price_operators(workload, workload.works[instruction.index], profile, fabric)) {
            if (priced.op == nullptr) {
                const bool goes_out = priced.collective == LocalCollectiveKind::dispatch;
                times[goes_out ? LivePhase::dispatch : LivePhase::combine] += priced.seconds;
            } else if (std::string_view(priced.op->name) == "policies") {
                times[instruction.part == Part::data ? LivePhase::paging : LivePhase::policies] += priced.seconds;
            } else {
                times[phase_of(priced.op->name)] += priced.seconds;
            }
        }
    }
    times[LivePhase::reduction] = seconds(timeline, Part::dp_exposed);
    times[LivePhase::waiting] = seconds(timeline, Part::straggler_wait);
    times.step = timeline.end.seconds();
    return times;
}

double error_of(double measured, double predicted) { return predicted / measured - 1; }

Table phase_table(const PhaseTimes& measured, const PhaseTimes* predicted) {
    Table table(predicted == nullptr ? std::vector<std::string>{"phase", "measured ms"}
                                     : std::vector<std::string>{"phase", "measured ms", "predicted ms", "error"});
    const auto add = [&](std::string_view phase, double is, double expected) {
        if (is == 0 && expected == 0) return;
        std::vector<std::string> row{std::string(phase), milliseconds(is)};
        if (predicted != nullptr) {
            row.push_back(milliseconds(expected));
            row.push_back(is > 0 ? fmt::format("{:+.1f} %", 100 * error_of(is, expected)) : "-");
        }
        table.add(row);
    };
    for (std::size_t i = 0; i < live_phase_count; ++i)
        add(name(static_cast<LivePhase>(i)), measured.phases[i], predicted == nullptr ? 0 : predicted->phases[i]);
    add("step", measured.step, predicted == nullptr ? 0 : predicted->step);
    return table;
}

}  // namespace rehearse

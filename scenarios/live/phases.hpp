// A step by phases: what a live run measured, and what the simulation of the same scenario predicts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/live/live_executor.hpp"
#include "scenarios/results.hpp"

namespace rehearse {

enum class LivePhase : std::uint8_t {
    gate, permutation, dispatch, experts, combine, attention, other_operators, reduction, optimizer, policies, paging,
    waiting,
};
inline constexpr std::size_t live_phase_count = 12;
std::string_view name(LivePhase phase);
LivePhase phase_of(std::string_view operation);  // by the name of an operator, or of what a live rank did

// Seconds of a step by operator, collective and act of a policy, by name; mean over the ranks.
using OperatorTimes = std::map<std::string, double>;
OperatorTimes measured_operators(const LiveReport& report);  // medians over the steps
// Operators and collectives as they are priced; reduction and waiting as the simulation found them.
OperatorTimes predicted_operators(const Workload& workload, const Placement& placement, const Cluster& cluster,
                                  const DeviceProfile& profile, const Timeline& timeline);

// Seconds of a step, mean over the ranks.
struct PhaseTimes {
    double phases[live_phase_count] = {};
    double step = 0;
    double& operator[](LivePhase phase) { return phases[static_cast<std::size_t>(phase)]; }
};
PhaseTimes phases_of(const OperatorTimes& operators, double step);

double error_of(double measured, double predicted);  // predicted / measured - 1
// One row per phase (operator) that takes time; `predicted` may be none.
Table phase_table(const PhaseTimes& measured, const PhaseTimes* predicted);
Table operator_table(const OperatorTimes& measured, const OperatorTimes* predicted);

}  // namespace rehearse

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

// Seconds of a step, mean over the ranks.
struct PhaseTimes {
    double phases[live_phase_count] = {};
    double step = 0;
    double& operator[](LivePhase phase) { return phases[static_cast<std::size_t>(phase)]; }
};

PhaseTimes measured_phases(const LiveReport& report);  // medians over the steps
// Operators and collectives as they are priced; reduction, waiting and what the policies cost as the simulation found
// them.
PhaseTimes predicted_phases(const Workload& workload, const Placement& placement, const Cluster& cluster,
                            const DeviceProfile& profile, const Timeline& timeline);

// measured / predicted - 1 with a sign that says how the prediction errs: predicted / measured - 1.
double error_of(double measured, double predicted);
Table phase_table(const PhaseTimes& measured, const PhaseTimes* predicted);

}  // namespace rehearse

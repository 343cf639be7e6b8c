// What `rehearse run` does around packet fidelity: whether a run is small enough for it, and the comparison of a run's
// busiest moments at both fidelities.
#pragma once

#include <string>

#include "models/network/packet_check.hpp"
#include "models/network/packet_effort.hpp"
#include "scenarios/results.hpp"

namespace rehearse {

// Transmissions (packets and ACKs x links) that a run without a slice may have: half a minute of one core.
inline constexpr std::uint64_t run_transmissions_most = 200'000'000;

// Nothing at other fidelities. The step runs once with flows, whose packets are counted. InputError
// (models.network.slice) when a run without a slice has more than run_transmissions_most, with their number and what to
// slice, and when nothing lies in a slice. A slice may be of any size: the returned text, "" when there is nothing to
// say, tells of a large one.
std::string check_packet_effort(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload);

// Of a record of the scenario's run with `seed`. InputError with the place of its key.
std::vector<PhaseCheck> check_run(const ValidScenario& scenario, const Cluster& cluster, const TransferRecord& record,
                                  std::uint64_t seed);

std::string packet_summary(const SeedRun& run, const ValidScenario& scenario);
std::string check_summary(const std::vector<PhaseCheck>& checks);

}  // namespace rehearse

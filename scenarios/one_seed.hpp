// One seed of a scenario, simulated and measured: what `run` and `sensitivity` have in common.
#pragma once

#include <vector>

#include "scenarios/results.hpp"

namespace rehearse {

// `sampled`: ranks whose spans are kept. InvariantBroken as simulate() and measure() say.
SeedRun run_seed(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload, std::uint64_t seed,
                 const std::vector<RankId>& sampled = {});

}  // namespace rehearse

// One seed of a scenario, simulated and measured: what `run`, `sensitivity` and `ablate` have in common.
#pragma once

#include <vector>

#include "models/network/transfer_log.hpp"
#include "scenarios/results.hpp"

namespace rehearse {

// `sampled`: ranks whose spans are kept; `record`: where the transfers are kept, if anywhere. InvariantBroken as
// simulate() and measure() say; InputError with the place of its key.
SeedRun run_seed(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload, std::uint64_t seed,
                 const std::vector<RankId>& sampled = {}, TransferRecord* record = nullptr);

// InputError (--seeds) when the last of the seeds is larger than any seed.
void check_seeds(std::uint64_t first, std::int64_t seeds);

}  // namespace rehearse

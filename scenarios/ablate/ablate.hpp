// `rehearse ablate`: what each group of techniques gives to the speed-up of all of them.
//
// The scenario is the full system. Its section `ablation` names the groups and the keys that switch each one off:
//
//     ablation:
//       comm: [training.technique.overlap_tensor=off, training.technique.overlap_data=off]
//       operators: [training.technique.operators=unfused]
//
// Without that section every technique of training.technique that is on is a group of its own. Every subset of the
// groups is simulated with the same seeds, and split.hpp divides the speed-up. The step time of a subset is the median
// over the seeds (of an even number the lower one of the middle two), and its parts are those of that run, so that they
// add up to it. Where subsets take different batches, times are compared per token: T(S) is scaled to the batch of the
// full system.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/metrics/metrics.hpp"
#include "scenarios/ablate/split.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

// The groups that the scenario names, or else one for each technique that is on.
std::vector<AblationGroup> ablation_groups(const ValidScenario& scenario);

struct SubsetRun {
    double step_time_s = 0;
    double tokens_per_s = 0;
    double mfu = 0;
    std::array<double, part_count> breakdown_s{};  // by Part
    std::vector<double> seed_step_times_s;         // in order of the seeds
    std::vector<std::uint64_t> fingerprints;
};

struct Ablation {
    std::string scenario;
    std::uint64_t seed = 0;             // the first one
    std::vector<AblationGroup> groups;  // in the order in which they are switched on
    std::vector<SubsetRun> subsets;     // by GroupSet
    std::vector<std::string> warnings;
    SpeedUpSplit split;
    double speed_up(GroupSet set) const { return subsets[set].tokens_per_s / subsets[0].tokens_per_s; }
};

struct AblationRequest {
    std::string path;
    std::vector<std::string> overrides;  // --set; they act on every subset, under what a group sets
    std::vector<std::string> order;      // names of groups; none: all of them as written
    std::string json_path;               // "" = none
    std::int64_t seeds = 1;              // seed, seed + 1, ...
    std::int64_t threads = 1;            // subsets simulated side by side; 0 = as many as the machine has
};

// Every subset is read and checked before the first one runs. InputError when the scenario or a subset of it cannot
// run, when the order names a group that there is not or names one twice, and when there are no groups or more than
// ablation_groups_most.
Ablation measure_ablation(const AblationRequest& request);

std::string ablation_text(const Ablation& ablation);
std::string ablation_json(const Ablation& ablation);  // schema_version 1

// Prints, and writes the JSON; warnings go to stderr.
void ablation_command(const AblationRequest& request);

}  // namespace rehearse

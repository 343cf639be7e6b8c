// What replicas of experts cost beside what they give: memory for their weights and gradients, and once a step their
// gradients summed and the new weights copied between the ranks that hold an expert. The optimizer state stays with
// one.
#pragma once

#include "models/workload/moe/expert_loads.hpp"
#include "models/workload/spec.hpp"
#include "runtime/moe/policy_spec.hpp"

namespace rehearse {

// Slots of a rank for experts: its experts alone without a balancer.
std::int64_t expert_slots(const TrainingSpec& training, const BalancerPolicy& balancer);

ExpertMemory expert_memory(const TrainingSpec& training, const PolicySpec& policies);

// Seconds of a step: replicas of a rank x parameters x (gradient and weight bytes) over its link. Where a core does the
// work, `pass` is its time to read or write a byte: it reads sums and what has come and writes sums, and it copies the
// weights that have come; 0: engines of the device do that on the way.
double replica_seconds(const TrainingSpec& training, const BalancerPolicy& balancer, Bandwidth link, double pass);

}  // namespace rehearse

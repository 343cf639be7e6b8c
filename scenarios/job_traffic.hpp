// What the scheduler needs to know of a workload: who talks to whom, and how much in a step.
#pragma once

#include "models/workload/workload.hpp"
#include "runtime/scheduler/job_traffic.hpp"
#include "scenarios/scenario.hpp"
#include "topology/placement.hpp"

namespace rehearse {

// One family per kind of process group that moves bytes, bytes per member averaged over the stages that have such
// groups. Ring collectives of n members and S bytes move (n - 1) / n S per member, all-reduce twice that. A pipeline of
// p stages with v chunks each is a chain that carries v messages of every micro-batch each way, and from its last stage
// to its first the `pipeline_return` of v - 1.
JobTraffic job_traffic(const Workload& workload);

// The real scheduler on this job. Ranks of a tensor group stay together in a node where the rank order puts tensor
// first.
Placement place_job(const ValidScenario& scenario, const Workload& workload, const Cluster& cluster,
                    std::uint64_t seed);

}  // namespace rehearse

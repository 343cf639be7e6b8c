// Workload: one training step as programs, works and messages, free of any device or network.
// Invariants: one program per pipeline stage; every posted collective is awaited once by every member; the k-th send of
// a direction is the k-th receive of its peer.
#pragma once

#include <string>
#include <vector>

#include "models/workload/memory.hpp"
#include "models/workload/moe/expert_loads.hpp"
#include "models/workload/operators.hpp"
#include "models/workload/program.hpp"
#include "models/workload/spec.hpp"
#include "topology/placement.hpp"

namespace rehearse {

enum class CollectiveVerb : std::uint8_t { all_gather, reduce_scatter, all_reduce, sync };  // sync: latency only

struct GroupCollective {
    CollectiveVerb verb = CollectiveVerb::sync;
    GroupFamily family = GroupFamily::data;
    Bytes bytes;  // the whole buffer of a rank (all-gather: output, reduce-scatter: input)
};

struct Workload {
    TrainingSpec training;
    RankLayout layout;
    std::vector<Program> programs;  // by pipeline stage
    std::vector<Work> works;
    std::vector<GroupCollective> collectives;
    Bytes stage_message;            // activation (or gradient) that one rank sends to the neighbouring stage
    MemoryReport memory;            // of the fullest rank
    double flops_per_token = 0;     // model FLOPs, forward and backward (see flops.hpp)
    double hardware_flops_per_token = 0;  // with recomputation
    ExpertStep experts{};
};

// Precondition: the training spec is valid (scenarios/validate): degrees divide layers, heads and batch. Of `experts`
// the loads act on the price of a layer, the times stand at the beginning of the step.
Workload build_workload(const TrainingSpec& training, ExpertStep experts = {});

}  // namespace rehearse

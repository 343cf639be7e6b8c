// What it costs to go from one map to the next: experts travel between GPUs at link rate, and the delta itself goes to
// all GPUs along a binary tree.
#pragma once

#include <vector>

#include "runtime/balancer/expert_map.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct MigrationSpec {
    Bytes weights;          // of one expert, all layers that the map stands for
    Bytes optimizer;        // its master weights and moments: they follow the first slot of an expert
    Bandwidth link;         // of a GPU, each way
    SimDuration latency;    // of one message
};

struct ExpertMove {
    std::uint32_t expert = 0, from_gpu = 0, to_gpu = 0;
    bool with_optimizer = false;
};

struct Migration {
    std::vector<ExpertMove> moves;  // by slot
    Bytes bytes;                    // of all moves
    SimDuration transfer;           // of the GPU that sends or receives most, both directions at once
    SimDuration broadcast;          // of the delta: ceil(log2 GPUs) hops
};

// Moves that fill the slots that differ; none where the GPU holds the expert already. An expert comes from that GPU
// among its holders which sends least so far. The optimizer state moves when the first slot of an expert changes its
// GPU.
Migration plan_migration(const ExpertMap& from, const ExpertMap& to, const MigrationSpec& spec);

}  // namespace rehearse

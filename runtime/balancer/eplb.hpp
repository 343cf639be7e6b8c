// Expert-parallel load balancing: which experts to replicate and where to put the replicas, from a forecast of loads.
// The algorithm is that of DeepSeek's EPLB, in three steps:
//   1. groups of experts go to nodes, the heaviest first, each to the lightest node that has room (when the groups do
//      not divide among the nodes, all experts and all GPUs are one node);
//   2. in a node, each spare slot goes to the expert with the largest load per replica;
//   3. the replicas go to the GPUs of the node as the groups went to the nodes.
// Equal loads keep their order, so that equal inputs give equal maps.
#pragma once

#include <span>

#include "runtime/balancer/expert_map.hpp"

namespace rehearse {

struct EplbShape {
    std::uint32_t slots = 0;   // of all GPUs, at least as many as experts
    std::uint32_t groups = 1;  // of experts, equally large
    std::uint32_t nodes = 1;
    std::uint32_t gpus = 1;    // of all nodes
};

// `loads`: tokens per expert, not negative. Throws InputError (path: balancer) when slots or GPUs don't divide, or when
// there are fewer slots than experts.
ExpertMap balance_experts(std::span<const double> loads, const EplbShape& shape, std::uint64_t version = 0);

}  // namespace rehearse

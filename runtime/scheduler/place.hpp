// The scheduler: which GPU runs which rank. The same code serves the simulator and real clusters; it returns its
// decision as data and acts on nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/scheduler/job_traffic.hpp"
#include "topology/cluster.hpp"
#include "topology/placement.hpp"

namespace rehearse {

// Consecutive ranks form blocks that are never split over hosts (a tensor-parallel group); a host has
// floor(GPUs / block) slots. A policy says which block goes to which slot; rank r runs at position r mod block of its
// slot.
enum class PlacementPolicy : std::uint8_t {
    packed,        // block b in slot b: hosts fill one after the other
    rail_aligned,  // as packed, but within a ToR set every host takes one block before any takes a second: equal
                   // positions of neighbouring blocks then sit on one rail. Equal to packed for blocks of a whole host
    spread,        // block by block over the ToR sets, pods in turn: least blast radius, most traffic at the top
    random,        // blocks on slots drawn from the seed: a fragmented cluster
    topology_aware,  // the order of blocks with the least bytes x tier among those that keep the groups of one family
                     // of traffic together, then of a second, and so on; never worse than packed, rail_aligned or
                     // spread
};
std::string_view name(PlacementPolicy policy);

// Throws InputError (path job.gpus) when the job has no ranks or does not fit, (path job) when blocks fit no host.
// Blocks larger than a host must be a multiple of it. `seed` is used by random only. A traffic without families makes
// topology_aware choose packed.
Placement place(const JobTraffic& traffic, std::uint32_t ranks, std::uint32_t ranks_per_node_block,
                const Cluster& cluster, PlacementPolicy policy, std::uint64_t seed);

}  // namespace rehearse

// Slots: the places in a cluster that a block of ranks can take, and the orders in which to fill them.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/cluster.hpp"

namespace rehearse {

using SlotOrder = std::vector<std::uint32_t>;  // slot s = host x slots per host + place in the host

struct Slots {
    std::uint32_t ranks = 0;
    std::uint32_t block = 0;   // ranks per slot
    std::uint32_t blocks = 0;  // that the job has; the last may be part-filled
    std::uint32_t per_host = 0;
    std::uint32_t hosts = 0;
    std::uint32_t hosts_per_set = 0, sets_per_pod = 0;

    std::uint32_t count() const { return hosts * per_host; }
    std::uint32_t set_of(std::uint32_t slot) const { return slot / per_host / hosts_per_set; }
};

// Throws InputError as place() does.
Slots make_slots(std::uint32_t ranks, std::uint32_t ranks_per_node_block, const Cluster& cluster);

SlotOrder host_by_host(const Slots& slots);                  // packed
SlotOrder place_by_place(const Slots& slots);                // rail_aligned
SlotOrder set_by_set(const Slots& slots);                    // spread
SlotOrder shuffled(const Slots& slots, std::uint64_t seed);  // random

// Block order[i] goes to slot slots_in_order[i]; returns the GPU of every rank.
std::vector<GpuId> assign(const Slots& slots, const std::vector<std::uint32_t>& order, const SlotOrder& slots_in_order,
                          const Cluster& cluster);

}  // namespace rehearse

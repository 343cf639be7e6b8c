#include "runtime/scheduler/place.hpp"

#include <numeric>

#include "runtime/scheduler/slots.hpp"
#include "runtime/scheduler/topology_aware.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

std::string_view name(PlacementPolicy policy) {
    constexpr std::string_view names[] = {"packed", "rail_aligned", "spread", "random", "topology_aware"};
    return names[static_cast<std::size_t>(policy)];
}

Placement place(const JobTraffic& traffic, std::uint32_t ranks, std::uint32_t ranks_per_node_block,
                const Cluster& cluster, PlacementPolicy policy, std::uint64_t seed) {
    const Slots slots = make_slots(ranks, ranks_per_node_block, cluster);
    std::vector<std::uint32_t> natural(slots.blocks);
    std::iota(natural.begin(), natural.end(), 0u);
    const auto in_order = [&](const SlotOrder& order) {
        return Placement(assign(slots, natural, order, cluster), cluster.gpu_count());
    };
    switch (policy) {
        case PlacementPolicy::packed:
            return in_order(host_by_host(slots));
        case PlacementPolicy::rail_aligned:
            return in_order(place_by_place(slots));
        case PlacementPolicy::spread:
            return in_order(set_by_set(slots));
        case PlacementPolicy::random:
            return in_order(shuffled(slots, seed));
        case PlacementPolicy::topology_aware:
            return Placement(place_by_traffic(traffic, slots, cluster), cluster.gpu_count());
    }
    throw_invariant_broken(__FILE__, __LINE__, "policy", "a placement policy of no known kind");
}

}  // namespace rehearse

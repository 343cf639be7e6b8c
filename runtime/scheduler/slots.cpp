#include "runtime/scheduler/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

[[noreturn]] void refuse(std::string path, std::string wrong, std::string expected, std::string todo) {
    Fault fault;
    fault.path = std::move(path);
    fault.wrong = std::move(wrong);
    fault.expected = std::move(expected);
    fault.todo = std::move(todo);
    throw InputError({fault});
}

}  // namespace

Slots make_slots(std::uint32_t ranks, std::uint32_t ranks_per_node_block, const Cluster& cluster) {
    const std::uint32_t gpus = cluster.gpus_per_node();
    if (ranks == 0) refuse("job.gpus", "a job without ranks", "1 or more", "");
    if (ranks_per_node_block == 0 || (ranks_per_node_block > gpus && ranks_per_node_block % gpus != 0))
        refuse("job", fmt::format("blocks of {} ranks do not fit hosts of {} GPUs", ranks_per_node_block, gpus),
               fmt::format("1 to {}, or a multiple of {}", gpus, gpus), "change the tensor-parallel size");
    const FabricShape& shape = cluster.shape();
    Slots slots;
    slots.ranks = ranks;
    slots.block = std::min(ranks_per_node_block, gpus);
    slots.blocks = (ranks - 1) / slots.block + 1;
    slots.per_host = gpus / slots.block;
    slots.hosts = cluster.node_count();
    slots.hosts_per_set = shape.hosts_per_tor_set;
    slots.sets_per_pod = shape.tor_sets_per_pod;
    if (slots.blocks > slots.count())
        refuse("job.gpus",
               fmt::format("{} ranks in blocks of {} take {} hosts", ranks, slots.block,
                           (slots.blocks - 1) / slots.per_host + 1),
               fmt::format("at most the {} hosts of the cluster", slots.hosts),
               "raise cluster.hosts or shrink the job");
    return slots;
}

SlotOrder host_by_host(const Slots& slots) {
    SlotOrder order(slots.count());
    std::iota(order.begin(), order.end(), 0u);
    return order;
}

SlotOrder place_by_place(const Slots& slots) {
    SlotOrder order;
    order.reserve(slots.count());
    for (std::uint32_t first = 0; first < slots.hosts; first += slots.hosts_per_set)
        for (std::uint32_t place = 0; place < slots.per_host; ++place)
            for (std::uint32_t host = first; host < std::min(first + slots.hosts_per_set, slots.hosts); ++host)
                order.push_back(host * slots.per_host + place);
    return order;
}

// Sets are taken in turn, and so ordered that neighbours in the turn lie in different pods.
SlotOrder set_by_set(const Slots& slots) {
    const SlotOrder by_place = place_by_place(slots);
    const std::uint32_t sets = (slots.hosts - 1) / slots.hosts_per_set + 1;
    std::vector<std::uint32_t> turn(sets);
    std::iota(turn.begin(), turn.end(), 0u);
    std::stable_sort(turn.begin(), turn.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return a % slots.sets_per_pod < b % slots.sets_per_pod; });
    const std::uint32_t full = slots.hosts_per_set * slots.per_host;  // slots of a set; sets lie one after the other
    SlotOrder order;
    order.reserve(slots.count());
    for (std::uint32_t i = 0; i < full; ++i)
        for (std::uint32_t set : turn)
            if (set * full + i < by_place.size()) order.push_back(by_place[set * full + i]);
    return order;
}

SlotOrder shuffled(const Slots& slots, std::uint64_t seed) {
    SlotOrder order = host_by_host(slots);
    std::uint64_t state = seed ^ hash_name("place.random");
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[splitmix64(state) % i]);
    return order;
}

std::vector<GpuId> assign(const Slots& slots, const std::vector<std::uint32_t>& order, const SlotOrder& slots_in_order,
                          const Cluster& cluster) {
    std::vector<GpuId> gpu_of(slots.ranks);
    for (std::uint32_t i = 0; i < slots.blocks; ++i) {
        const std::uint32_t slot = slots_in_order[i], first_rank = order[i] * slots.block;
        const std::uint32_t host = slot / slots.per_host;
        const std::uint32_t first_gpu = host * cluster.gpus_per_node() + slot % slots.per_host * slots.block;
        for (std::uint32_t r = 0; r < slots.block && first_rank + r < slots.ranks; ++r)
            gpu_of[first_rank + r] = GpuId{first_gpu + r};
    }
    return gpu_of;
}

}  // namespace rehearse

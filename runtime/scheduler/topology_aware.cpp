#include "runtime/scheduler/topology_aware.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/scheduler/block_order.hpp"
#include "runtime/scheduler/tier_counter.hpp"

namespace rehearse {
namespace {

constexpr std::size_t families_most = 4;  // 4! = 24 nestings

// Keeps the best candidate seen.
class Contest {
public:
    Contest(const JobTraffic& traffic, const Slots& slots, const Cluster& cluster)
        : traffic_(traffic), slots_(slots), cluster_(cluster), counter_(cluster) {}

    void enter(const BlockOrder& order, const SlotOrder& slots_in_order) {
        if (slots_in_order.size() < slots_.blocks) return;
        std::vector<GpuId> gpu_of = assign(slots_, order, slots_in_order, cluster_);
        const double cost = counter_.count(traffic_, gpu_of).bytes_times_tier();
        // A relative margin: sums in another order must not decide between equal candidates.
        if (!best_.empty() && cost >= best_cost_ * (1 - 1e-9)) return;
        best_cost_ = cost;
        best_ = std::move(gpu_of);
    }

    std::vector<GpuId> take_best() { return std::move(best_); }

private:
    const JobTraffic& traffic_;
    const Slots& slots_;
    const Cluster& cluster_;
    TierCounter counter_;
    std::vector<GpuId> best_;
    double best_cost_ = 0;
};

double total_bytes(const JobTraffic::Family& family) {
    double members = 0;
    for (const auto& group : family.groups) members += static_cast<double>(group.size());
    return members * family.bytes_per_member;
}

// Families whose groups span blocks, the one that moves most first.
std::vector<BlockFamily> heaviest_families(const JobTraffic& traffic, const Slots& slots) {
    std::vector<const JobTraffic::Family*> by_bytes;
    for (const auto& family : traffic.families) by_bytes.push_back(&family);
    std::stable_sort(by_bytes.begin(), by_bytes.end(),
                     [](const auto* a, const auto* b) { return total_bytes(*a) > total_bytes(*b); });
    std::vector<BlockFamily> families;
    for (const auto* family : by_bytes) {
        if (families.size() == families_most) break;
        BlockFamily blocks(*family, slots);
        if (!blocks.empty()) families.push_back(std::move(blocks));
    }
    return families;
}

// Slots in the order `base`, chunk by chunk of `chunk` blocks: a chunk that would straddle two ToR sets begins in the
// next one. May return fewer slots than there are blocks: then the cluster has no room for it.
SlotOrder whole_chunks(const SlotOrder& base, const Slots& slots, std::uint32_t chunk) {
    SlotOrder kept;
    for (std::size_t at = 0; at < base.size() && kept.size() < slots.blocks;) {
        const std::size_t end = at + std::min<std::size_t>(chunk, slots.blocks - kept.size());
        if (end > base.size()) return kept;
        if (slots.set_of(base[at]) != slots.set_of(base[end - 1])) {
            const std::uint32_t set = slots.set_of(base[at]);
            while (at < base.size() && slots.set_of(base[at]) == set) ++at;
            continue;
        }
        kept.insert(kept.end(), base.begin() + static_cast<std::ptrdiff_t>(at),
                    base.begin() + static_cast<std::ptrdiff_t>(end));
        at = end;
    }
    return kept;
}

}  // namespace

std::vector<GpuId> place_by_traffic(const JobTraffic& traffic, const Slots& slots, const Cluster& cluster) {
    Contest contest(traffic, slots, cluster);
    BlockOrder natural(slots.blocks);
    std::iota(natural.begin(), natural.end(), 0u);
    const SlotOrder by_host = host_by_host(slots), by_place = place_by_place(slots);
    contest.enter(natural, by_host);
    if (slots.per_host > 1) contest.enter(natural, by_place);
    contest.enter(natural, set_by_set(slots));

    const std::vector<BlockFamily> families = heaviest_families(traffic, slots);
    const std::uint32_t set_slots = slots.hosts_per_set * slots.per_host;
    std::vector<std::size_t> nesting(families.size());
    std::iota(nesting.begin(), nesting.end(), std::size_t{0});
    do {
        if (families.empty()) break;
        std::vector<const BlockFamily*> nested;
        for (std::size_t i : nesting) nested.push_back(&families[i]);
        const BlockOrder order = nested_order(nested, slots.blocks);
        contest.enter(order, by_host);
        if (slots.per_host > 1) contest.enter(order, by_place);
        const std::uint32_t chunk = nested.front()->group_size();
        if (chunk > set_slots || set_slots % chunk == 0) continue;  // cannot be kept whole; is whole already
        contest.enter(order, whole_chunks(by_host, slots, chunk));
        if (slots.per_host > 1) contest.enter(order, whole_chunks(by_place, slots, chunk));
    } while (std::next_permutation(nesting.begin(), nesting.end()));
    return contest.take_best();
}

}  // namespace rehearse

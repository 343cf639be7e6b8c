#include "runtime/scheduler/tier_counter.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "runtime/rings.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

double& at(TierBytes& sum, LinkTier tier) { return sum.bytes[static_cast<std::size_t>(tier)]; }

// Ordered pairs of members with equal keys.
template <class Members, class Key>
double equal_pairs(Members& members, Key key) {
    std::sort(members.begin(), members.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    double pairs = 0;
    for (std::size_t i = 0; i < members.size();) {
        std::size_t end = i;
        while (end < members.size() && key(members[end]) == key(members[i])) ++end;
        const double n = static_cast<double>(end - i);
        pairs += n * (n - 1);
        i = end;
    }
    return pairs;
}

}  // namespace

double TierBytes::total() const { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }

double TierBytes::bytes_times_tier() const {
    return at(LinkTier::host) + 2 * at(LinkTier::aggregation) + 3 * at(LinkTier::core);
}

TierBytes bytes_per_tier(const JobTraffic& traffic, const Placement& placement, const Cluster& cluster) {
    return TierCounter(cluster).count(traffic, placement.gpus());
}

TierCounter::TierCounter(const Cluster& cluster) : cluster_(cluster) {
    const FabricShape& shape = cluster.shape();
    locations_.reserve(cluster.gpu_count());
    for (GpuId gpu{0}; gpu.value < cluster.gpu_count(); ++gpu.value) {
        const std::uint32_t tor = cluster.tor_index(gpu), set = tor / shape.rails;
        // Rail-only traffic changes rail inside the host, so any two hosts of a set meet at a ToR.
        if (shape.rail_groups) locations_.push_back({cluster.node_of(gpu).value, set, 0});
        else locations_.push_back({cluster.node_of(gpu).value, tor, set / shape.tor_sets_per_pod});
    }
}

LinkTier TierCounter::tier(const Location& a, const Location& b) const {
    if (a.node == b.node) return LinkTier::nvlink;
    if (a.tor == b.tor) return LinkTier::host;
    return a.pod == b.pod ? LinkTier::aggregation : LinkTier::core;
}

TierBytes TierCounter::count(const JobTraffic& traffic, const std::vector<GpuId>& gpu_of) const {
    TierBytes sum;
    for (const JobTraffic::Family& family : traffic.families)
        for (const std::vector<RankId>& group : family.groups) {
            std::vector<GpuId> gpus;
            for (RankId rank : group) {
                REHEARSE_CHECK(rank.value < gpu_of.size(),
                               "a group of family " + family.name + " has an unplaced rank");
                gpus.push_back(gpu_of[rank.value]);
            }
            if (gpus.size() > 1) count_group(std::move(gpus), family.pattern, family.bytes_per_member, sum);
        }
    return sum;
}

void TierCounter::count_group(std::vector<GpuId> gpus, GroupPattern pattern, double bytes, TierBytes& sum) const {
    switch (pattern) {
        case GroupPattern::ring: {
            const std::vector<std::vector<GpuId>> rings = build_rings(std::move(gpus), cluster_);
            for (const auto& ring : rings) count_cycle(ring, bytes / static_cast<double>(rings.size()), sum);
            break;
        }
        case GroupPattern::cycle: count_cycle(gpus, bytes, sum); break;
        case GroupPattern::chain: count_hops(gpus, 2 * bytes, sum); break;
        case GroupPattern::all_to_all: count_pairs(gpus, bytes, sum); break;
    }
}

void TierCounter::count_hops(const std::vector<GpuId>& gpus, double bytes, TierBytes& sum) const {
    for (std::size_t i = 1; i < gpus.size(); ++i)
        at(sum, tier(locations_[gpus[i - 1].value], locations_[gpus[i].value])) += bytes;
}

void TierCounter::count_cycle(const std::vector<GpuId>& gpus, double bytes, TierBytes& sum) const {
    count_hops(gpus, bytes, sum);
    at(sum, tier(locations_[gpus.back().value], locations_[gpus.front().value])) += bytes;
}

// By inclusion: pairs of one node; of one ToR less those of one ToR and node; of one pod less all of those; the rest.
void TierCounter::count_pairs(const std::vector<GpuId>& gpus, double bytes, TierBytes& sum) const {
    std::vector<Location> members;
    for (GpuId gpu : gpus) members.push_back(locations_[gpu.value]);
    const double n = static_cast<double>(members.size());
    const double node = equal_pairs(members, [](const Location& l) { return l.node; });
    const double tor = equal_pairs(members, [](const Location& l) { return l.tor; });
    const double both = equal_pairs(members, [](const Location& l) { return std::tuple(l.tor, l.node); });
    const double pod = equal_pairs(members, [](const Location& l) { return l.pod; });
    const double each = bytes / (n - 1);
    const double host = tor - both;
    at(sum, LinkTier::nvlink) += each * node;
    at(sum, LinkTier::host) += each * host;
    at(sum, LinkTier::aggregation) += each * (pod - node - host);
    at(sum, LinkTier::core) += each * (n * (n - 1) - pod);
}

}  // namespace rehearse

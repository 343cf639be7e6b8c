#include "runtime/scheduler/tier_counter.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

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

TierCounter::TierCounter(const Cluster& cluster) {
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
    std::vector<GpuId> gpus;
    std::vector<Location> members;
    for (const JobTraffic::Family& family : traffic.families)
        for (const std::vector<RankId>& group : family.groups) {
            gpus.clear();
            for (RankId rank : group) {
                REHEARSE_CHECK(rank.value < gpu_of.size(),
                               "a group of family " + family.name + " has an unplaced rank");
                gpus.push_back(gpu_of[rank.value]);
            }
            if (family.pattern == GroupPattern::ring) std::sort(gpus.begin(), gpus.end());
            members.clear();
            for (GpuId gpu : gpus) members.push_back(locations_[gpu.value]);
            if (members.size() < 2) continue;
            if (family.pattern == GroupPattern::all_to_all) count_pairs(members, family.bytes_per_member, sum);
            else count_neighbours(members, family.pattern, family.bytes_per_member, sum);
        }
    return sum;
}

void TierCounter::count_neighbours(const std::vector<Location>& members, GroupPattern pattern, double bytes,
                                   TierBytes& sum) const {
    const double ways = pattern == GroupPattern::chain ? 2.0 : 1.0;
    for (std::size_t i = 1; i < members.size(); ++i) at(sum, tier(members[i - 1], members[i])) += ways * bytes;
    if (pattern == GroupPattern::ring) at(sum, tier(members.back(), members.front())) += bytes;
}

// By inclusion: pairs of one node; of one ToR less those of one ToR and node; of one pod less all of those; the rest.
void TierCounter::count_pairs(std::vector<Location>& members, double bytes, TierBytes& sum) const {
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

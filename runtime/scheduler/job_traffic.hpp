// What a job will send, as far as placement cares: families of process groups with equal traffic.
//
// Example, data parallelism over ranks {0, 8, 16, 24}, each member sends 1 GB a step to its successor:
//     JobTraffic job{{{"data", GroupPattern::ring, {{RankId{0}, RankId{8}, RankId{16}, RankId{24}}}, 1e9}}};
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "topology/cluster.hpp"
#include "topology/placement.hpp"

namespace rehearse {

enum class GroupPattern : std::uint8_t {
    ring,   // the rings that a communicator lays (runtime/rings.hpp): k of them share bytes_per_member, and each of
            // their hops carries the k-th part
    cycle,  // in the order of the group: each sends bytes_per_member to its successor, the last one to the first
    chain,  // each member sends bytes_per_member to its successor and as much to its predecessor (pipelines)
    all_to_all,  // each member sends bytes_per_member in all, evenly to the others
};

struct JobTraffic {
    struct Family {
        std::string name;
        GroupPattern pattern = GroupPattern::ring;
        std::vector<std::vector<RankId>> groups;
        double bytes_per_member = 0;
    };
    std::vector<Family> families;
};

// Bytes by the highest tier that they cross (pcie stays 0: it is always on the way to the host tier).
struct TierBytes {
    std::array<double, link_tier_count> bytes{};
    double at(LinkTier tier) const { return bytes[static_cast<std::size_t>(tier)]; }
    double total() const;
    // sum of bytes x switch tiers climbed: nvlink 0, host 1, aggregation 2, core 3. What topology_aware makes small.
    double bytes_times_tier() const;
};

// InvariantBroken when a group names a rank that is not placed.
TierBytes bytes_per_tier(const JobTraffic& traffic, const Placement& placement, const Cluster& cluster);

}  // namespace rehearse

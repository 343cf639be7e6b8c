// The figures of a study: what its screen and metrics.json say.
//
//     slowdown   completion time / time of the flow alone on an idle fabric
//     goodput    payload bits of the whole flows / (end of the last flow - start of the first)
//     quantile q of n sorted values: the one at index floor(q n), the last at most
#pragma once

#include <array>
#include <vector>

#include "models/network/study/study.hpp"
#include "topology/cluster.hpp"

namespace rehearse {

struct Spread {
    double min = 0, mean = 0, p50 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<double> values);  // none: all 0

inline constexpr std::size_t loads_per_tier = 3;

struct LinkLoad {
    LinkId link;
    double utilisation = 0;  // wire bytes / (rate x time of the study)
};

struct StudyFigures {
    std::size_t flows = 0, failed = 0, blocked = 0;
    Bytes bytes;  // payload of the whole flows
    Spread fct_us, slowdown;  // of the whole flows
    double goodput_gbps = 0;
    double end_us = 0;
    std::uint64_t retransmissions = 0, timeouts = 0;
    double stalled_us = 0;  // of the flow that waited longest for timeouts and switch events
    PortCounters sum;  // of all links
    std::array<PortCounters, link_tier_count> tiers;
    std::vector<LinkLoad> busiest;       // of each tier the loads_per_tier busiest
    std::vector<LinkId> queues_longest;  // of each tier the one with the highest peak
};

StudyFigures figures_of(const StudyRecord& record, const Cluster& cluster);

}  // namespace rehearse

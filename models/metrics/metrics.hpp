// Metrics: the figures of one simulated step.
//
//     tokens per second     batch x sequence / step time
//     MFU                   tokens per second x model FLOPs per token / (GPUs x peak)       (Chowdhery et al., 2022)
//     HFU                   the same with the FLOPs that the hardware ran, recomputation included
//     breakdown             mean over ranks of the time that each part took; adds up to the step time
//     utilisation of a link time integral of its load / step time
// model FLOPs count attention over the window; mfu_full_attention counts it over the whole sequence
// (workload/flops.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/network_model.hpp"
#include "models/workload/workload.hpp"
#include "topology/cluster.hpp"
#include "topology/placement.hpp"

namespace rehearse {

// What a step left behind; a view, so that metrics need not know who ran it.
struct StepRecord {
    SimTime end;
    std::span<const std::array<SimDuration, part_count>> parts;  // per rank; each adds up to `end`
    std::span<const std::uint32_t> last_arrivals;                // per rank: collectives for which it came last
    const LinkTraffic& traffic;
};

struct LinkUse {
    LinkId link;
    double bytes = 0;
    double utilisation = 0;  // 0 to 1, mean over the step
};

// Where to look first.
struct BottleneckHints {
    Part part_largest = Part::compute;  // apart from compute itself
    std::uint32_t stage_busiest = 0;    // pipeline stage with the most compute and optimizer time per rank
    double stage_busiest_s = 0;
    double stage_mean_s = 0;
    NodeId host_last;            // whose ranks came last to collectives most often; invalid when none were late
    double host_last_share = 0;  // of all late arrivals
};

struct Metrics {
    double step_time_s = 0;
    double tokens_per_s = 0;
    double tokens_per_s_per_gpu = 0;
    double mfu = 0;
    double mfu_full_attention = 0;
    double hfu = 0;
    double model_flops_per_token = 0;
    std::array<double, part_count> breakdown_s{};          // by Part
    MemoryReport memory;                                   // of the fullest GPU
    std::array<double, link_tier_count> bytes_per_tier{};  // wire bytes, one count per link crossed
    std::vector<LinkUse> busiest_links;  // of each tier the busiest_links_per_tier busiest, by utilisation
    BottleneckHints hints;
};

inline constexpr std::size_t busiest_links_per_tier = 3;

// InvariantBroken when the parts of a rank do not add up to the step, or the record does not fit the workload.
Metrics measure(const StepRecord& step, const Workload& workload, const Cluster& cluster, const Placement& placement,
                FlopRate peak);

}  // namespace rehearse

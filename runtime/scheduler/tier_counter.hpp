// Counts bytes per tier for many candidate placements of one job: the place of every GPU is looked up once.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/scheduler/job_traffic.hpp"

namespace rehearse {

class TierCounter {
public:
    explicit TierCounter(const Cluster& cluster);
    TierBytes count(const JobTraffic& traffic, const std::vector<GpuId>& gpu_of) const;

private:
    // Two GPUs meet at the first of these that they share; each is nested in the one after it, but for tor, which joins
    // one rail of many hosts.
    struct Location {
        std::uint32_t node, tor, pod;
    };

    LinkTier tier(const Location& a, const Location& b) const;
    void count_group(std::vector<GpuId> gpus, GroupPattern pattern, double bytes, TierBytes& sum) const;
    void count_hops(const std::vector<GpuId>& gpus, double bytes, TierBytes& sum) const;
    void count_cycle(const std::vector<GpuId>& gpus, double bytes, TierBytes& sum) const;
    void count_pairs(const std::vector<GpuId>& gpus, double bytes, TierBytes& sum) const;

    const Cluster& cluster_;
    std::vector<Location> locations_;  // by GpuId
};

}  // namespace rehearse

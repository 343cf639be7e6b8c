// Pricing: the works of a workload as durations on one device profile.
#pragma once

#include <vector>

#include "models/compute/profile.hpp"
#include "models/workload/workload.hpp"

namespace rehearse {

// Compute first, then (when communication > 0) the local group meets and communicates. Zero both: nothing.
struct PricedSegment {
    SimDuration compute;        // of an average rank; jitter and slow hosts act on it
    SimDuration communication;  // exposed time after the last member has arrived
};

struct PricedWork {
    std::vector<PricedSegment> segments;
    SimDuration compute() const;
    SimDuration communication() const;
    bool meets() const { return meets_; }  // whether any segment ends with a collective
    void add(PricedSegment segment) {
        segments.push_back(segment);
        meets_ = meets_ || segment.communication.value > 0;
    }

private:
    bool meets_ = false;
};

// How the local group is joined: the works' collectives run over NVLink inside a node, over NICs beyond it.
struct LocalFabric {
    std::uint32_t group_size = 1;
    std::uint32_t ranks_per_node = 8;
    Bandwidth node_network;  // all NICs of a node, one way
};

std::vector<PricedWork> price(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric);

}  // namespace rehearse

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
    Part part = Part::tp_exposed;           // of the communication
    std::uint32_t members = no_members;     // row of PricedWork::of_member, which then replaces `compute`
    SimDuration collective{};               // the whole of the communication, hidden or not
    static constexpr std::uint32_t no_members = 0xffffffff;
};

struct PricedWork {
    std::vector<PricedSegment> segments;
    SimDuration compute() const;
    SimDuration communication() const;
    std::vector<std::vector<SimDuration>> of_member;  // compute by member of the local group, for unequal expert loads
    bool meets() const { return meets_; }  // whether its members are run together
    void add(PricedSegment segment) {
        segments.push_back(segment);
        meets_ = meets_ || segment.communication.value > 0 || segment.members != PricedSegment::no_members;
    }

private:
    bool meets_ = false;
};

// How the groups of one kind lie on the nodes.
struct GroupShape {
    std::uint32_t size = 1;
    std::uint32_t nodes = 1;  // that the most scattered of them touches
};

// Collectives of a group in one node run over NVLink. Beyond it a tensor ring uses the NICs of all its members, and
// each rank of a context ring its own NIC; both idle, with one message latency per node boundary.
struct LocalFabric {
    GroupShape tensor;
    GroupShape context;
    std::uint32_t ranks_per_node = 8;
    Bandwidth node_network;  // all NICs of a node, one way
    GroupShape expert{};     // the ranks that rows are exchanged among
};

// Rows of experts go as an all-to-all, or as an all-gather of all tokens and a reduce-scatter of all results where that
// is faster (many experts per token); beyond one node see collectives/expert_exchange.hpp.
//
// Hidden communication (Hiding::under) of length w beside operators of length a takes
//     max(a + min(a, w) m, w)
// streamed the same for all but the first part of it, which goes before,
// with m = communication_multiprocessors: the share of the device that the operators miss meanwhile.
std::vector<PricedWork> price(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric);

// What each operator of a work takes by itself, and each collective, in their order; of unequal members the mean. A
// collective has no operator.
struct PricedOperator {
    const Operator* op = nullptr;
    LocalCollectiveKind collective = LocalCollectiveKind::none;
    double seconds = 0;
};
std::vector<PricedOperator> price_operators(const Workload& workload, const Work& work, const DeviceProfile& profile,
                                            const LocalFabric& fabric);

}  // namespace rehearse

// From a transfer to the links that it loads.
//
// One unit of rate is one payload byte per second of the transfer's `size`. A link that k hops of the transfer cross
// carries k bytes for it:
//   point_to_point  every link of the route: 1; with q queue pairs the q routes carry 1/q each; sprayed, all shortest
//                   paths carry even shares (sprayed_links.hpp)
//   ring            the sum over the hops member i -> member i + 1
//   all_to_all      the sum over the ordered pairs, 1 / (n - 1) each
// Ethernet links (host, aggregation and core tiers) carry framing on top: x wire bytes / payload bytes of one message
// (size / messages; size / steps in a ring; size / (n - 1) in an all-to-all). NVLink and PCIe links carry payload.
//
// Latency: a transfer between two GPUs pays that of its route, an all-to-all that of its slowest pair. A ring is a
// pipeline: each chunk goes around it, over `steps` hops, and every member has one under way. It pays `steps` times
// the mean latency of its hops, and moves at the rate of its slowest one.
//
// A PCIe link whose NIC has one network link that is no faster can never be the bottleneck: all it carries crosses that
// link too, with framing. It is left out of `binding` and kept for the traffic figures.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/flow/max_min_solver.hpp"
#include "models/network/flow/run_pool.hpp"
#include "models/network/key_table.hpp"
#include "models/network/network_model.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/spec.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {

class TransferPaths {
public:
    using PathIndex = std::uint32_t;

    struct Prepared {
        PathIndex index;
        FlowPath binding;     // links that can limit it; valid until the next prepare()
        SimDuration latency;  // of a hop, `steps` times
        double wire_ratio;    // wire bytes per payload byte on Ethernet links
        bool is_kept;         // has a group_key; else release() it when the transfer is over and counted
    };

    // Both must outlive the paths.
    TransferPaths(const Cluster& cluster, const Router& router, const NetworkSpec& spec,
                  PathChoice paths = PathChoice::ecmp);

    // Routes are found once per group_key. InvariantBroken when a pattern has too few members or a negative size.
    Prepared prepare(const TransferRequest& request);
    void expect(std::uint64_t group_key) const;  // as NetworkModel::expect()
    void count(PathIndex index, double payload, double wire_ratio);  // traffic for carried()
    void release(PathIndex index);

    const std::vector<double>& capacities() const { return capacities_; }  // bytes per second, per LinkId
    // Bytes per link of all that was counted.
    std::vector<double> carried() const;
    // Adds `payload` bytes of one transfer.
    void add_carried(PathIndex index, double payload, double wire_ratio, std::vector<double>& bytes) const;

private:
    static constexpr std::uint32_t near_max = 8;
    // Links: framed ones, then other binding ones, then the rest; few of them lie in `near`, many in the pool.
    struct alignas(64) Shape {
        std::uint32_t first = 0;  // in the pool
        std::uint32_t framed = 0;
        std::uint32_t binding = 0;
        std::uint32_t all = 0;
        SimDuration hop_latency;  // ring: of the mean hop, rounded up; else of the slowest
        double framed_rate = 0;   // min over the framed links of capacity / weight
        double plain_rate = 0;    // over the other binding ones
        double payload = 0;       // counted
        double wire = 0;          // payload x wire ratio
        bool is_kept = false;     // has a group_key
        std::array<WeightedLink, near_max> near{};
    };

    std::vector<bool> followers() const;
    PathIndex find_shape(const TransferRequest& request);
    PathIndex new_shape();
    void collect(const TransferRequest& request, Shape& shape);
    // The latency of the hop, that of its slowest queue pair.
    SimDuration add_hop(GpuId source, GpuId destination, double weight);
    void merge_collected();
    void store(Shape& shape);
    const WeightedLink* links(const Shape& shape) const {
        return shape.all <= near_max ? shape.near.data() : pool_.at(shape.first);
    }
    double wire_ratio(const TransferRequest& request) const;

    const Cluster* cluster_;
    const Router* router_;
    bool is_sprayed_;
    Framing framing_;
    Bytes mtu_;
    std::vector<double> capacities_;
    std::vector<bool> follows_;  // per link: never binding
    KeyTable known_;             // group_key -> shape
    std::vector<Shape> shapes_;
    std::vector<PathIndex> free_shapes_;
    RunPool<WeightedLink> pool_;           // links of long paths
    std::vector<WeightedLink> collected_;  // scratch
    std::vector<WeightedLink> mixed_;      // scratch: the binding links of a transfer that has framed and plain ones
    std::vector<double> carried_alone_;    // by transfers without a group_key
};

}  // namespace rehearse

// From a transfer to the links that it loads.
//
// One unit of rate is one payload byte per second of the transfer's `size`. A link that k hops of the transfer cross
// carries k bytes for it:
//   point_to_point  every link of the route: 1; with q queue pairs the q routes carry 1/q each
//   ring            the sum over the hops member i -> member i + 1
//   all_to_all      the sum over the ordered pairs, 1 / (n - 1) each
// Ethernet links (host, aggregation and core tiers) carry framing on top: weight x wire bytes / payload bytes of one
// message (the whole size; size / steps in a ring; size / (n - 1) in an all-to-all). NVLink and PCIe links carry payload.
//
// latency: of the slowest hop, `steps` times.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "models/network/flow/max_min_reference.hpp"
#include "models/network/network_model.hpp"
#include "models/network/spec.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {

class Expansion {
public:
    struct Transfer {
        std::span<const WeightedLink> links;  // ascending, distinct; valid until the next expand()
        SimDuration latency;
    };

    // Both must outlive the expansion.
    Expansion(const Cluster& cluster, const Router& router, const NetworkSpec& spec);

    // InvariantBroken when a pattern has too few members or a negative size. Requests of one group_key are expanded once.
    Transfer expand(const TransferRequest& request);

    // Bytes per second of every link.
    std::vector<double> capacities() const;

private:
    struct Shape {                         // a pattern before framing
        std::vector<WeightedLink> links;   // ascending, distinct
        std::vector<std::uint8_t> framed;  // 1: an Ethernet link
        SimDuration hop_latency;           // of the slowest hop
    };

    void shape_of(const TransferRequest& request, Shape& shape);
    void add_hop(GpuId source, GpuId destination, double weight, Shape& shape);
    void merge(Shape& shape);
    double wire_ratio(const TransferRequest& request) const;

    const Cluster* cluster_;
    const Router* router_;
    Framing framing_;
    Bytes mtu_;
    std::unordered_map<std::uint64_t, std::uint32_t> known_;  // group_key -> shapes_; looked up, never iterated
    std::vector<Shape> shapes_;
    Shape scratch_;
    std::vector<WeightedLink> weighted_;
};

}  // namespace rehearse

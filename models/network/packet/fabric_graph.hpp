// The Ethernet part of a cluster as the packet engine walks it: NICs and switches are nodes, every one-way link is a
// port of the node that it leaves. Ports of a node are numbered side by side in the order of its links, so that a route
// is one small number per switch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/network/packet/packet.hpp"
#include "topology/cluster.hpp"
#include "topology/router.hpp"

namespace rehearse {

struct GraphPort {
    std::uint32_t node;        // that it leaves
    std::uint32_t peer;        // port of the node at the other end that leads back
    std::int64_t latency;      // ps from last bit out to last bit in
    std::uint64_t byte_time;   // ps per byte, 16 fractional bits
    LinkId link;
    std::uint8_t local;        // number of the port at its node
};

struct PacketRoute {
    std::array<std::uint8_t, hops_max> ports{};  // at each switch on the way
    std::uint8_t switches = 0;
};

class FabricGraph {
public:
    // Throws InputError when a link has no latency (the windows of the engine need one) or a switch over 256 ports.
    FabricGraph(const Cluster& cluster, const Router& router);

    std::uint32_t node_count() const { return static_cast<std::uint32_t>(first_port_.size()) - 1; }
    std::uint32_t port_count() const { return static_cast<std::uint32_t>(ports_.size()); }
    std::uint32_t first_port(std::uint32_t node) const { return first_port_[node]; }
    std::uint32_t ports_of(std::uint32_t node) const { return first_port_[node + 1] - first_port_[node]; }
    const GraphPort& port(std::uint32_t index) const { return ports_[index]; }
    bool is_switch(std::uint32_t node) const { return node >= nic_count_; }
    std::uint32_t nic_count() const { return nic_count_; }  // nodes 0 .. nic_count - 1
    std::uint32_t nic_of(GpuId gpu) const { return node_of_vertex_[cluster_->nic_vertex(gpu).value]; }
    std::uint32_t node_of(VertexId vertex) const { return node_of_vertex_[vertex.value]; }  // UINT32_MAX: none
    VertexId vertex_of(std::uint32_t node) const { return vertices_[node]; }
    std::uint32_t port_of(LinkId link) const { return port_of_link_[link.value]; }  // UINT32_MAX: not Ethernet

    // As the switches hash the flow; empty when both GPUs share a NIC.
    PacketRoute route(const FlowKey& key) const;
    // One of all shortest routes: they are numbered, and `draw` modulo their number chooses. So consecutive draws visit
    // all of them in turn, which is packet spraying, and random ones any.
    PacketRoute spread_route(GpuId source, GpuId destination, std::uint64_t draw) const;
    // Whether a route that begins at the NIC of `source` uses none of the `dead` ports (in order).
    bool is_live(GpuId source, const PacketRoute& route, std::span<const std::uint32_t> dead) const;
    // A shortest route without dead ports; where there is none, any.
    PacketRoute route_around(GpuId source, GpuId destination, std::uint64_t draw,
                             std::span<const std::uint32_t> dead) const;
    std::int64_t loop_latency(std::uint32_t port) const {  // ps: out by this port and back
        return ports_[port].latency + ports_[ports_[port].peer].latency;
    }
    std::int64_t latency_min() const;  // of all links: how far nodes can run ahead of each other

    const Cluster& cluster() const { return *cluster_; }

private:
    void number_nodes();
    void fill_ports();
    bool find_live(std::uint32_t node, GpuId destination, std::uint64_t draw, std::span<const std::uint32_t> dead,
                   PacketRoute& route) const;

    const Cluster* cluster_;
    const Router* router_;
    std::uint32_t nic_count_ = 0;
    std::vector<VertexId> vertices_;
    std::vector<std::uint32_t> node_of_vertex_, port_of_link_, first_port_;
    std::vector<GraphPort> ports_;
};

}  // namespace rehearse

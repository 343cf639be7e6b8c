// Cluster: the built fabric as a frozen graph in compressed rows. Constant after build_cluster(); shared freely.
//
// Vertices are GPUs, NVLink switches (one per node), NICs and packet switches; every link is one way. A GPU reaches
// its NVLink switch (tier nvlink), its NIC over PCIe (tier pcie), the NIC its ToR (tier host), a ToR the aggregation
// switches of its pod (tier aggregation), an aggregation switch its core plane (tier core).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "topology/shape.hpp"
#include "topology/spec.hpp"

namespace rehearse {

enum class VertexKind : std::uint8_t { gpu, nvlink_switch, nic, tor, aggregation, core };
enum class LinkTier : std::uint8_t { nvlink, pcie, host, aggregation, core };
inline constexpr std::size_t link_tier_count = 5;
std::string_view name(VertexKind kind);
std::string_view name(LinkTier tier);

struct Vertex {
    VertexKind kind;
    std::uint32_t node = UINT32_MAX;   // server, for gpu / nvlink_switch / nic
    std::uint32_t pod = UINT32_MAX;    // for tor / aggregation
    std::uint32_t group = UINT32_MAX;  // tor: ToR set over the whole cluster; core: plane; rail-only aggregation: rail
    std::uint32_t index = 0;           // gpu, nic: index in node; tor: rail; aggregation: index in pod; core: in plane
};

struct Link {
    VertexId from;
    VertexId to;
    Bandwidth rate;
    SimDuration latency;  // propagation + PHY of the link and port-to-port time of the switch it enters
    LinkTier tier;
};

class Cluster {
public:
    const ClusterSpec& spec() const { return spec_; }
    const FabricShape& shape() const { return shape_; }
    std::uint32_t node_count() const { return node_count_; }
    std::uint32_t gpus_per_node() const { return gpus_per_node_; }
    std::uint32_t gpu_count() const { return node_count_ * gpus_per_node_; }
    NodeId node_of(GpuId gpu) const { return NodeId{gpu.value / gpus_per_node_}; }

    std::span<const Vertex> vertices() const { return vertices_; }
    std::span<const Link> links() const { return links_; }
    const Link& link(LinkId id) const { return links_[id.value]; }
    const Vertex& vertex(VertexId id) const { return vertices_[id.value]; }
    std::span<const LinkId> out_links(VertexId from) const {
        const std::uint32_t first = first_link_[from.value];
        return {link_ids_.data() + first, first_link_[from.value + 1] - first};
    }

    VertexId gpu_vertex(GpuId gpu) const;
    VertexId nvlink_switch_vertex(NodeId node) const;  // invalid when a node has one GPU
    VertexId nic_vertex(GpuId gpu) const;      // the NIC that serves this GPU; the GPU itself when node.pcie = 0
    std::uint32_t nic_index(GpuId gpu) const;  // of that NIC over the whole cluster: node x NICs per host + NIC
    std::uint32_t tor_index(GpuId gpu) const;  // of the ToR of that NIC: ToR set x rails + rail
    VertexId tor_vertex(std::uint32_t tor) const { return VertexId{first_tor_ + tor}; }
    VertexId aggregation_vertex(std::uint32_t index) const { return VertexId{first_aggregation_ + index}; }
    VertexId core_vertex(std::uint32_t index) const { return VertexId{first_core_ + index}; }
    // Highest tier that traffic between two GPUs crosses: nvlink in a node, host under one ToR (rail-only: one ToR
    // set), aggregation in a pod (or in a rail), core otherwise.
    LinkTier highest_tier(GpuId a, GpuId b) const;
    std::string vertex_name(VertexId id) const;  // "node12.gpu3", "pod0.set2.tor5", "plane3.core1"

private:
    friend class ClusterBuilder;
    ClusterSpec spec_;
    FabricShape shape_;
    std::uint32_t node_count_ = 0;
    std::uint32_t gpus_per_node_ = 0;
    // Vertices are numbered host by host (GPUs, NVLink switch, NICs), then ToRs, aggregation switches and cores.
    std::uint32_t vertices_per_host_ = 0;
    std::uint32_t first_tor_ = 0, first_aggregation_ = 0, first_core_ = 0;
    std::vector<Vertex> vertices_;
    std::vector<Link> links_;                // ordered by (from, to, parallel index)
    std::vector<std::uint32_t> first_link_;  // per vertex, size vertices + 1
    std::vector<LinkId> link_ids_;           // link_ids_[i] = i: lets a row be handed out as a span
};

// Builds the fabric for `hosts` nodes (> 0; a fat tree takes 0 as "as many as fit"). A part-filled last pod or ToR set
// keeps its switches. Throws InputError naming the key for a fabric that cannot be wired.
Cluster build_cluster(const ClusterSpec& spec);

}  // namespace rehearse

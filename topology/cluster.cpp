#include "topology/cluster.hpp"

#include <fmt/format.h>

#include "sim/base/checks.hpp"

namespace rehearse {

std::string_view name(VertexKind kind) {
    constexpr std::string_view names[] = {"gpu", "nvlink_switch", "nic", "tor", "aggregation", "core"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view name(LinkTier tier) {
    constexpr std::string_view names[] = {"nvlink", "pcie", "host", "aggregation", "core"};
    return names[static_cast<std::size_t>(tier)];
}

VertexId Cluster::gpu_vertex(GpuId gpu) const {
    return VertexId{gpu.value / gpus_per_node_ * vertices_per_host_ + gpu.value % gpus_per_node_};
}

VertexId Cluster::nvlink_switch_vertex(NodeId node) const {
    if (shape_.nvlink_switches_per_host == 0) return VertexId{};
    return VertexId{node.value * vertices_per_host_ + gpus_per_node_};
}

VertexId Cluster::nic_vertex(GpuId gpu) const {
    if (shape_.nic_vertices_per_host == 0) return gpu_vertex(gpu);
    const std::uint32_t nic = nic_index(gpu) % shape_.nics_per_host;
    const std::uint32_t first = gpus_per_node_ + shape_.nvlink_switches_per_host;
    return VertexId{node_of(gpu).value * vertices_per_host_ + first + nic};
}

std::uint32_t Cluster::nic_index(GpuId gpu) const { return gpu.value / (gpus_per_node_ / shape_.nics_per_host); }

std::uint32_t Cluster::tor_index(GpuId gpu) const {
    const std::uint32_t nic = nic_index(gpu);
    const std::uint32_t set = nic / shape_.nics_per_host / shape_.hosts_per_tor_set;
    return set * shape_.rails + nic % shape_.nics_per_host % shape_.rails;
}

LinkTier Cluster::highest_tier(GpuId a, GpuId b) const {
    if (node_of(a) == node_of(b)) return LinkTier::nvlink;
    const std::uint32_t tor_a = tor_index(a), tor_b = tor_index(b);
    if (shape_.rail_groups)
        return tor_a / shape_.rails == tor_b / shape_.rails ? LinkTier::host : LinkTier::aggregation;
    if (tor_a == tor_b) return LinkTier::host;
    return shape_.group_of_tor(tor_a) == shape_.group_of_tor(tor_b) ? LinkTier::aggregation : LinkTier::core;
}

std::string Cluster::vertex_name(VertexId id) const {
    const Vertex& v = vertex(id);
    switch (v.kind) {
        case VertexKind::gpu:
            return fmt::format("node{}.gpu{}", v.node, v.index);
        case VertexKind::nvlink_switch:
            return fmt::format("node{}.nvswitch", v.node);
        case VertexKind::nic:
            return fmt::format("node{}.nic{}", v.node, v.index);
        case VertexKind::tor:
            return fmt::format("pod{}.set{}.tor{}", v.pod, v.group - v.pod * shape_.tor_sets_per_pod, v.index);
        case VertexKind::aggregation:
            if (shape_.rail_groups)
                return fmt::format("rail{}.agg{}", v.group, v.index % shape_.aggregations_per_group);
            return fmt::format("pod{}.agg{}", v.pod, v.index);
        case VertexKind::core:
            return fmt::format("plane{}.core{}", v.group, v.index);
    }
    REHEARSE_CHECK(false, "a vertex of no known kind");
}

}  // namespace rehearse

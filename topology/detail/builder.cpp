// Wires the fabric, cable by cable, into a Boost.Graph and freezes it into the rows of Cluster.
#include <utility>

#include "sim/base/checks.hpp"
#include "topology/detail/graph.hpp"

namespace rehearse {

namespace detail {

Graph make_graph(std::span<const Vertex> vertices, std::span<const Link> links) {
    std::vector<std::pair<std::size_t, std::size_t>> ends;
    ends.reserve(links.size());
    for (const Link& link : links) ends.emplace_back(link.from.value, link.to.value);
    Graph graph(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(), links.begin(), vertices.size());
    for (std::size_t v = 0; v < vertices.size(); ++v) graph[v] = vertices[v];
    return graph;
}

}  // namespace detail

// Cables are laid tier by tier, lower end outermost, so that every vertex meets its neighbours in ascending order.
class ClusterBuilder {
public:
    explicit ClusterBuilder(const ClusterSpec& spec) : spec_(spec), shape_(shape_of(spec)) {
        cluster_.spec_ = spec;
        cluster_.spec_.hosts = shape_.hosts;
        cluster_.shape_ = shape_;
        cluster_.node_count_ = shape_.hosts;
        cluster_.gpus_per_node_ = shape_.gpus_per_host;
        cluster_.vertices_per_host_ =
            shape_.gpus_per_host + shape_.nvlink_switches_per_host + shape_.nic_vertices_per_host;
        cluster_.first_tor_ = shape_.hosts * cluster_.vertices_per_host_;
        cluster_.first_aggregation_ = cluster_.first_tor_ + shape_.tor_count();
        cluster_.first_core_ = cluster_.first_aggregation_ + shape_.aggregation_count();
    }

    Cluster build() {
        add_hosts();
        add_switches();
        wire_hosts();
        wire_aggregation();
        wire_core();
        freeze(detail::make_graph(vertices_, links_));
        return std::move(cluster_);
    }

private:
    void add_hosts() {
        vertices_.reserve(cluster_.first_core_ + shape_.core_count());
        for (std::uint32_t host = 0; host < shape_.hosts; ++host) {
            for (std::uint32_t i = 0; i < shape_.gpus_per_host; ++i)
                vertices_.push_back({.kind = VertexKind::gpu, .node = host, .index = i});
            for (std::uint32_t i = 0; i < shape_.nvlink_switches_per_host; ++i)
                vertices_.push_back({.kind = VertexKind::nvlink_switch, .node = host, .index = i});
            for (std::uint32_t i = 0; i < shape_.nic_vertices_per_host; ++i)
                vertices_.push_back({.kind = VertexKind::nic, .node = host, .index = i});
        }
    }

    void add_switches() {
        for (std::uint32_t tor = 0; tor < shape_.tor_count(); ++tor) {
            const std::uint32_t set = tor / shape_.rails;
            vertices_.push_back({.kind = VertexKind::tor,
                                 .pod = set / shape_.tor_sets_per_pod,
                                 .group = set,
                                 .index = tor % shape_.rails});
        }
        for (std::uint32_t i = 0; i < shape_.aggregation_count(); ++i) {
            const std::uint32_t group = i / shape_.aggregations_per_group;
            Vertex v{.kind = VertexKind::aggregation, .pod = group, .index = i % shape_.aggregations_per_group};
            if (shape_.rail_groups) v = {.kind = VertexKind::aggregation, .pod = 0, .group = group, .index = i};
            vertices_.push_back(v);
        }
        for (std::uint32_t i = 0; i < shape_.core_count(); ++i)
            vertices_.push_back(
                {.kind = VertexKind::core, .group = i / shape_.cores_per_plane, .index = i % shape_.cores_per_plane});
    }

    // GPU to GPU over NVLink takes nvlink_latency: half on the way into the switch, half on the way out. A NIC adds its
    // latency where it sends into the fabric and where it takes in from the fabric, on the host link in both cases.
    void wire_hosts() {
        const NodeSpec& node = spec_.node;
        const SimDuration half{node.nvlink_latency.value / 2};
        const SimDuration link = spec_.fabric.link_latency;
        for (GpuId gpu{0}; gpu.value < cluster_.gpu_count(); ++gpu.value) {
            const VertexId at = cluster_.gpu_vertex(gpu);
            const VertexId nvlink = cluster_.nvlink_switch_vertex(cluster_.node_of(gpu));
            if (nvlink.valid()) lay(at, nvlink, node.nvlink, LinkTier::nvlink, node.nvlink_latency - half, half);
            if (shape_.nic_vertices_per_host > 0)
                lay(at, cluster_.nic_vertex(gpu), node.pcie, LinkTier::pcie, node.pcie_latency, node.pcie_latency);
        }
        const std::uint32_t gpus_per_nic = shape_.gpus_per_host / shape_.nics_per_host;
        for (GpuId gpu{0}; gpu.value < cluster_.gpu_count(); gpu.value += gpus_per_nic)
            lay(cluster_.nic_vertex(gpu), cluster_.tor_vertex(cluster_.tor_index(gpu)), shape_.host_link_rate,
                LinkTier::host, link + spec_.fabric.switch_latency + node.nic_latency, link + node.nic_latency);
    }

    void wire_aggregation() {
        for (std::uint32_t tor = 0; tor < shape_.tor_count(); ++tor) {
            const std::uint32_t first = shape_.group_of_tor(tor) * shape_.aggregations_per_group;
            for (std::uint32_t i = 0; i < shape_.aggregations_per_group; ++i)
                for (std::uint32_t copy = 0; copy < shape_.links_per_tor; ++copy)
                    lay_fabric(cluster_.tor_vertex(tor), cluster_.aggregation_vertex(first + i), LinkTier::aggregation);
        }
    }

    void wire_core() {
        if (shape_.cores_per_plane == 0) return;
        for (std::uint32_t i = 0; i < shape_.aggregation_count(); ++i) {
            const std::uint32_t plane = i % shape_.aggregations_per_group;
            for (std::uint32_t core = 0; core < shape_.cores_per_plane; ++core)
                for (std::uint32_t copy = 0; copy < shape_.links_per_core; ++copy)
                    lay_fabric(cluster_.aggregation_vertex(i),
                               cluster_.core_vertex(plane * shape_.cores_per_plane + core), LinkTier::core);
        }
    }

    void lay_fabric(VertexId low, VertexId high, LinkTier tier) {
        const SimDuration latency = spec_.fabric.link_latency + spec_.fabric.switch_latency;
        lay(low, high, spec_.fabric.switch_port_rate, tier, latency, latency);
    }

    void lay(VertexId low, VertexId high, Bandwidth rate, LinkTier tier, SimDuration up, SimDuration down) {
        links_.push_back({low, high, rate, up, tier});
        links_.push_back({high, low, rate, down, tier});
    }

    void freeze(const detail::Graph& graph) {
        cluster_.vertices_ = std::move(vertices_);
        cluster_.links_.reserve(links_.size());
        cluster_.first_link_.reserve(num_vertices(graph) + 1);
        for (std::size_t v = 0; v < num_vertices(graph); ++v) {
            cluster_.first_link_.push_back(static_cast<std::uint32_t>(cluster_.links_.size()));
            const auto [begin, end] = out_edges(v, graph);
            for (auto edge = begin; edge != end; ++edge) cluster_.links_.push_back(graph[*edge]);
        }
        cluster_.first_link_.push_back(static_cast<std::uint32_t>(cluster_.links_.size()));
        cluster_.link_ids_.reserve(cluster_.links_.size());
        for (std::uint32_t id = 0; id < cluster_.links_.size(); ++id) {
            cluster_.link_ids_.emplace_back(id);
            if (id == 0) continue;
            const Link &before = cluster_.links_[id - 1], &link = cluster_.links_[id];
            REHEARSE_CHECK(std::pair(before.from, before.to) <= std::pair(link.from, link.to), "links out of order");
        }
    }

    ClusterSpec spec_;
    FabricShape shape_;
    Cluster cluster_;
    std::vector<Vertex> vertices_;
    std::vector<Link> links_;
};

Cluster build_cluster(const ClusterSpec& spec) { return ClusterBuilder(spec).build(); }

}  // namespace rehearse

#include "models/network/packet/fabric_graph.hpp"

#include <algorithm>

#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

bool is_ethernet(LinkTier tier) { return tier >= LinkTier::host; }

bool is_switch_kind(VertexKind kind) { return kind >= VertexKind::tor; }

[[noreturn]] void refuse(const char* path, const char* wrong, const char* expected) {
    Fault fault;
    fault.path = path;
    fault.wrong = wrong;
    fault.expected = expected;
    throw InputError({fault});
}

}  // namespace

FabricGraph::FabricGraph(const Cluster& cluster, const Router& router) : cluster_(&cluster), router_(&router) {
    number_nodes();
    fill_ports();
}

// NICs first: a node with an Ethernet link that is no switch is one, a GPU too where it sits on its NIC.
void FabricGraph::number_nodes() {
    const auto vertices = cluster_->vertices();
    node_of_vertex_.assign(vertices.size(), none);
    std::vector<bool> reaches(vertices.size(), false);
    for (const Link& link : cluster_->links()) {
        if (is_ethernet(link.tier)) reaches[link.from.value] = reaches[link.to.value] = true;
    }
    for (const bool switches : {false, true}) {
        for (std::uint32_t v = 0; v < vertices.size(); ++v) {
            if (!reaches[v] || is_switch_kind(vertices[v].kind) != switches) continue;
            node_of_vertex_[v] = static_cast<std::uint32_t>(vertices_.size());
            vertices_.push_back(VertexId{v});
        }
        if (!switches) nic_count_ = static_cast<std::uint32_t>(vertices_.size());
    }
}

void FabricGraph::fill_ports() {
    const auto links = cluster_->links();
    port_of_link_.assign(links.size(), none);
    for (const VertexId vertex : vertices_) {
        first_port_.push_back(port_count());
        for (const LinkId id : cluster_->out_links(vertex)) {
            const Link& link = links[id.value];
            if (!is_ethernet(link.tier)) continue;
            if (link.latency <= SimDuration{0})
                refuse("cluster.fabric.link_latency", "a link without latency", "more than 0 s at packet fidelity");
            port_of_link_[id.value] = port_count();
            const auto wide = detail::Wide{8'000'000'000'000} << 16;
            const auto byte_time = static_cast<std::uint64_t>(wide / link.rate.value);
            const auto local = static_cast<std::uint8_t>(port_count() - first_port_.back());
            ports_.push_back({node_of_vertex_[vertex.value], none, link.latency.value, byte_time, id, local});
        }
        if (port_count() - first_port_.back() > 256)
            refuse("cluster.fabric.switch_ports", "a switch has more than 256 ports", "at most 256 at packet fidelity");
    }
    first_port_.push_back(port_count());
    // Links of both directions between two nodes pair up in order: the n-th one back belongs to the n-th one forth.
    for (std::uint32_t p = 0; p < port_count(); ++p) {
        if (ports_[p].peer != none) continue;
        const std::uint32_t to = node_of_vertex_[links[ports_[p].link.value].to.value];
        for (std::uint32_t q = first_port_[to]; q < first_port_[to + 1]; ++q) {
            const bool back = node_of_vertex_[links[ports_[q].link.value].to.value] == ports_[p].node;
            if (!back || ports_[q].peer != none || q == p) continue;
            ports_[p].peer = q;
            ports_[q].peer = p;
            break;
        }
        REHEARSE_CHECK(ports_[p].peer != none, "a link without a way back");
    }
}

PacketRoute FabricGraph::route(const FlowKey& key) const {
    PacketRoute route;
    const Path path = router_->route(key);
    for (const LinkId link : path.links()) {
        const std::uint32_t port = port_of_link_[link.value];
        if (port == none || !is_switch(ports_[port].node)) continue;
        route.ports[route.switches++] = static_cast<std::uint8_t>(port - first_port_[ports_[port].node]);
    }
    return route;
}

PacketRoute FabricGraph::numbered_route(GpuId source, GpuId destination, std::uint64_t number) const {
    PacketRoute route;
    const std::uint32_t end = nic_of(destination);
    std::uint32_t node = ports_[ports_[first_port_[nic_of(source)]].peer].node;
    while (node != end) {
        const auto group = router_->next_hops(vertices_[node], destination);
        const std::uint32_t port = port_of_link_[group[number % group.size()].value];
        number /= group.size();
        route.ports[route.switches++] = static_cast<std::uint8_t>(port - first_port_[node]);
        node = ports_[ports_[port].peer].node;
    }
    return route;
}

std::int64_t FabricGraph::latency_min() const {
    std::int64_t least = INT64_MAX;
    for (const GraphPort& port : ports_) least = std::min(least, port.latency);
    return least;
}

}  // namespace rehearse

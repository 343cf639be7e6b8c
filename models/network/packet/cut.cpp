#include "models/network/packet/cut.hpp"

#include <algorithm>
#include <string>

#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

constexpr std::uint16_t none = UINT16_MAX;

[[noreturn]] void refuse(std::uint32_t partitions, std::uint32_t count, const char* one, const char* many) {
    Fault fault;
    fault.path = "cluster.fabric";
    fault.wrong = "a fabric of " + std::to_string(count) + " " + (count == 1 ? one : many) +
                  " can't be cut into " + std::to_string(partitions) + " partitions";
    fault.expected = "at most one thread or process per " + std::string(one);
    fault.todo = "lower --threads, or start fewer processes";
    throw InputError({fault});
}

// Number of the server that a NIC belongs to, per NIC.
std::vector<std::uint32_t> servers_of(const FabricGraph& graph) {
    std::vector<std::uint32_t> servers(graph.nic_count(), 0);
    for (std::uint32_t g = 0; g < graph.cluster().gpu_count(); ++g)
        servers[graph.nic_of(GpuId{g})] = graph.cluster().node_of(GpuId{g}).value;
    return servers;
}

void deal_out_servers(const FabricGraph& graph, std::uint32_t partitions, std::vector<std::uint16_t>& cut) {
    const std::vector<std::uint32_t> servers = servers_of(graph);
    const std::uint32_t count = *std::max_element(servers.begin(), servers.end()) + 1;
    if (count < partitions) refuse(partitions, count, "server", "servers");
    std::vector<std::uint64_t> before(count + 1, 0);  // NICs of the servers with lower numbers
    for (const std::uint32_t server : servers) ++before[server + 1];
    for (std::uint32_t s = 0; s < count; ++s) before[s + 1] += before[s];
    for (std::uint32_t nic = 0; nic < graph.nic_count(); ++nic)
        cut[nic] = static_cast<std::uint16_t>(before[servers[nic]] * partitions / servers.size());
}

// Of the partitions with at least half as many links from here as any, the one with the fewest ports so far (`load`).
std::uint16_t choose(const FabricGraph& graph, std::uint32_t node, const std::vector<std::uint16_t>& cut,
                     const std::vector<std::uint64_t>& load) {
    std::vector<std::uint32_t> links(load.size(), 0);
    for (std::uint32_t i = 0; i < graph.ports_of(node); ++i) {
        const std::uint16_t peer = cut[graph.port(graph.port(graph.first_port(node) + i).peer).node];
        if (peer != none) ++links[peer];
    }
    const std::uint32_t most = *std::max_element(links.begin(), links.end());
    std::uint16_t best = none;
    for (std::uint16_t p = 0; p < links.size() && most > 0; ++p) {
        if (2 * links[p] >= most && (best == none || load[p] < load[best])) best = p;
    }
    return best;
}

}  // namespace

// Switches level by level: those next to nodes that have a partition.
std::vector<std::uint16_t> cut_fabric(const FabricGraph& graph, std::uint32_t partitions) {
    if (partitions == 1) return std::vector<std::uint16_t>(graph.node_count(), 0);
    const std::uint32_t switches = graph.node_count() - graph.nic_count();
    if (switches < partitions) refuse(partitions, switches, "switch", "switches");
    std::vector<std::uint16_t> cut(graph.node_count(), none);
    deal_out_servers(graph, partitions, cut);
    std::vector<std::uint64_t> load(partitions, 0);
    for (bool is_complete = false; !is_complete;) {
        is_complete = true;
        std::vector<std::uint16_t> level = cut;
        for (std::uint32_t node = graph.nic_count(); node < graph.node_count(); ++node) {
            if (cut[node] != none) continue;
            level[node] = choose(graph, node, cut, load);
            if (level[node] == none) continue;
            load[level[node]] += graph.ports_of(node);
            is_complete = false;
        }
        cut = std::move(level);
    }
    std::replace(cut.begin(), cut.end(), none, std::uint16_t{0});  // switches without a way to a host
    return cut;
}

}  // namespace rehearse

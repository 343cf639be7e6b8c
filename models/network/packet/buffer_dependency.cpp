#include "models/network/packet/buffer_dependency.hpp"

#include <algorithm>
#include <utility>

namespace rehearse {

namespace {

using Waits = std::vector<std::vector<std::uint32_t>>;  // per port: the ports whose buffers it waits for

Waits waits_of(const FabricGraph& graph, std::span<const RoutedFlow> flows) {
    Waits waits(graph.port_count());
    for (const RoutedFlow& flow : flows) {
        std::uint32_t port = graph.first_port(graph.nic_of(flow.source));
        for (std::uint32_t hop = 0; hop < flow.route.switches; ++hop) {
            const std::uint32_t next = graph.first_port(graph.port(graph.port(port).peer).node) + flow.route.ports[hop];
            waits[port].push_back(next);
            port = next;
        }
    }
    for (std::vector<std::uint32_t>& row : waits) {
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    return waits;
}

}  // namespace

// Depth first; the way down to a port that is still on it is a cycle.
std::vector<std::uint32_t> find_buffer_cycle(const FabricGraph& graph, std::span<const RoutedFlow> flows) {
    const Waits waits = waits_of(graph, flows);
    enum class Mark : std::uint8_t { fresh, on_the_way, done };
    std::vector<Mark> marks(waits.size(), Mark::fresh);
    std::vector<std::pair<std::uint32_t, std::size_t>> way;  // port, next of its waits
    for (std::uint32_t start = 0; start < waits.size(); ++start) {
        if (marks[start] == Mark::fresh) way.emplace_back(start, 0);
        while (!way.empty()) {
            auto& [port, next] = way.back();
            marks[port] = Mark::on_the_way;
            if (next == waits[port].size()) {
                marks[port] = Mark::done;
                way.pop_back();
                continue;
            }
            const std::uint32_t to = waits[port][next++];
            if (marks[to] == Mark::fresh) way.emplace_back(to, 0);
            if (marks[to] != Mark::on_the_way) continue;
            std::vector<std::uint32_t> cycle;
            const auto is_to = [&](const auto& step) { return step.first == to; };
            for (auto step = std::find_if(way.begin(), way.end(), is_to); step != way.end(); ++step) {
                cycle.push_back(step->first);
            }
            return cycle;
        }
    }
    return {};
}

std::string describe_buffer_cycle(const FabricGraph& graph, std::span<const std::uint32_t> cycle) {
    std::string text;
    const auto add = [&](std::uint32_t port) {
        if (!text.empty()) text += " -> ";
        text += graph.cluster().vertex_name(graph.vertex_of(graph.port(port).node));
    };
    for (const std::uint32_t port : cycle) add(port);
    if (!cycle.empty()) add(cycle.front());
    return text;
}

}  // namespace rehearse

// DOT and GraphML through the writers of Boost.Graph.
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <ostream>
#include <string>

#include "topology/detail/graph.hpp"
#include "topology/export.hpp"

namespace rehearse {
namespace {

using VertexDescriptor = boost::graph_traits<detail::Graph>::vertex_descriptor;
using EdgeDescriptor = boost::graph_traits<detail::Graph>::edge_descriptor;

std::string vertex_label(const Cluster& cluster, std::size_t v) {
    return cluster.vertex_name(VertexId{static_cast<std::uint32_t>(v)});
}

}  // namespace

void write_dot(std::ostream& out, const Cluster& cluster) {
    const detail::Graph graph = detail::make_graph(cluster.vertices(), cluster.links());
    boost::write_graphviz(
        out, graph,
        [&](std::ostream& to, VertexDescriptor v) {
            to << "[label=\"" << vertex_label(cluster, v) << "\",kind=" << name(graph[v].kind) << "]";
        },
        [&](std::ostream& to, const EdgeDescriptor& e) {
            to << "[tier=" << name(graph[e].tier) << ",rate_bps=" << graph[e].rate.value
               << ",latency_ps=" << graph[e].latency.value << "]";
        });
}

void write_graphml(std::ostream& out, const Cluster& cluster) {
    const detail::Graph graph = detail::make_graph(cluster.vertices(), cluster.links());
    boost::dynamic_properties properties;
    const auto of_vertex = [&](const char* key, auto function) {
        properties.property(key, boost::make_function_property_map<VertexDescriptor>(function));
    };
    const auto of_edge = [&](const char* key, auto function) {
        properties.property(key, boost::make_function_property_map<EdgeDescriptor>(function));
    };
    of_vertex("name", [&](VertexDescriptor v) { return vertex_label(cluster, v); });
    of_vertex("kind", [&](VertexDescriptor v) { return std::string(name(graph[v].kind)); });
    of_edge("tier", [&](const EdgeDescriptor& e) { return std::string(name(graph[e].tier)); });
    of_edge("rate_bps", [&](const EdgeDescriptor& e) { return graph[e].rate.value; });
    of_edge("latency_ps", [&](const EdgeDescriptor& e) { return graph[e].latency.value; });
    boost::write_graphml(out, graph, boost::get(boost::vertex_index, graph), properties, true);
}

}  // namespace rehearse

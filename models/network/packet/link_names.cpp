#include "models/network/packet/link_names.hpp"

#include <string>

#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

[[noreturn]] void refuse(std::string wrong, std::string expected) {
    const char* const todo = "`rehearse topo` lists vertices and links";
    throw InputError({{{}, "faults", std::move(wrong), std::move(expected), todo}});
}

}  // namespace

VertexId vertex_named(const Cluster& cluster, std::string_view name) {
    const auto count = static_cast<std::uint32_t>(cluster.vertices().size());
    for (std::uint32_t v = 0; v < count; ++v) {
        if (cluster.vertex_name(VertexId{v}) == name) return VertexId{v};
    }
    refuse("no vertex is called " + in_quotes(name), "a name such as " + in_quotes(cluster.vertex_name(VertexId{0})));
}

LinkId link_named(const Cluster& cluster, std::string_view from, std::string_view to, std::uint32_t parallel) {
    const VertexId start = vertex_named(cluster, from), end = vertex_named(cluster, to);
    std::uint32_t found = 0;
    for (const LinkId link : cluster.out_links(start)) {
        if (cluster.link(link).to == end && found++ == parallel) return link;
    }
    refuse("link " + std::to_string(parallel) + " from " + in_quotes(from) + " to " + in_quotes(to),
           "one of the " + std::to_string(found) + " links between them, counted from 0");
}

}  // namespace rehearse

#include "models/network/packet/link_names.hpp"

#include <string>
#include <vector>

#include "sim/base/fault.hpp"
#include "sim/base/nearest.hpp"

namespace rehearse {

namespace {

[[noreturn]] void refuse(std::string_view key, std::string wrong, std::string expected, const std::string& near) {
    std::string todo = near.empty() ? "`rehearse topo --format dot` lists vertices and links"
                                    : "did you mean " + in_quotes(near) + "?";
    throw InputError({{{}, std::string(key), std::move(wrong), std::move(expected), std::move(todo)}});
}

// The vertices that a link from here leads to.
std::vector<std::string> neighbours(const Cluster& cluster, VertexId vertex) {
    std::vector<std::string> names;
    for (const LinkId link : cluster.out_links(vertex)) names.push_back(cluster.vertex_name(cluster.link(link).to));
    return names;
}

}  // namespace

VertexId vertex_named(const Cluster& cluster, std::string_view name, std::string_view key) {
    const auto count = static_cast<std::uint32_t>(cluster.vertices().size());
    std::vector<std::string> known;
    for (std::uint32_t v = 0; v < count; ++v) {
        known.push_back(cluster.vertex_name(VertexId{v}));
        if (known.back() == name) return VertexId{v};
    }
    refuse(key, "no vertex is called " + in_quotes(name), "a name such as " + in_quotes(known.front()),
           nearest_word(name, known));
}

LinkId link_named(const Cluster& cluster, std::string_view from, std::string_view to, std::uint32_t parallel) {
    const VertexId start = vertex_named(cluster, from, "from"), end = vertex_named(cluster, to, "to");
    std::uint32_t found = 0;
    for (const LinkId link : cluster.out_links(start)) {
        if (cluster.link(link).to == end && found++ == parallel) return link;
    }
    if (found == 0) {
        const std::vector<std::string> names = neighbours(cluster, start);
        refuse("to", "no link leads from " + in_quotes(from) + " to " + in_quotes(to),
               "a neighbour such as " + in_quotes(names.front()), nearest_word(to, names));
    }
    refuse("parallel", "link " + std::to_string(parallel) + " from " + in_quotes(from) + " to " + in_quotes(to),
           "one of the " + std::to_string(found) + " links between them, counted from 0", "");
}

}  // namespace rehearse

// Links and switches by the names that `rehearse topo --format dot` prints, for faults of named links.
//
// Example: link_named(cluster, "node0.gpu0", "pod0.set0.tor0") is the way up of the first GPU that sits on its NIC.
#pragma once

#include <cstdint>
#include <string_view>

#include "topology/cluster.hpp"

namespace rehearse {

// Both throw InputError when there is no such vertex or link, with the nearest name; the path of its fault is `key`, or
// from, to, parallel. O(vertices) per call.
VertexId vertex_named(const Cluster& cluster, std::string_view name, std::string_view key = "name");
// The one-way link between two vertices; `parallel` counts those that run side by side.
LinkId link_named(const Cluster& cluster, std::string_view from, std::string_view to, std::uint32_t parallel = 0);

}  // namespace rehearse

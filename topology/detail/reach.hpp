// Reachability over the Boost.Graph form of the fabric.
#pragma once

#include <cstddef>

#include "topology/cluster.hpp"

namespace rehearse::detail {

// Vertices that a breadth-first search from the first GPU visits.
std::size_t reachable_vertices(const Cluster& cluster);

}  // namespace rehearse::detail

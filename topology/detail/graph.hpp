// The fabric as a Boost.Graph value. Seen by detail/ only: everything else reads the frozen rows of Cluster.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <span>

#include "topology/cluster.hpp"

namespace rehearse::detail {

using Graph = boost::compressed_sparse_row_graph<boost::directedS, Vertex, Link>;

// Links may come in any order; links of one vertex keep their order.
Graph make_graph(std::span<const Vertex> vertices, std::span<const Link> links);

}  // namespace rehearse::detail

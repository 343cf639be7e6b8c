#include "topology/detail/reach.hpp"

#include <boost/graph/breadth_first_search.hpp>

#include "topology/detail/graph.hpp"

namespace rehearse::detail {
namespace {

struct CountVisits : boost::default_bfs_visitor {
    std::size_t* count = nullptr;
    template <class VertexDescriptor, class AnyGraph>
    void discover_vertex(VertexDescriptor, const AnyGraph&) const {
        ++*count;
    }
};

}  // namespace

std::size_t reachable_vertices(const Cluster& cluster) {
    const Graph graph = make_graph(cluster.vertices(), cluster.links());
    std::size_t count = 0;
    CountVisits visitor;
    visitor.count = &count;
    boost::breadth_first_search(graph, std::size_t{0}, boost::visitor(visitor));
    return count;
}

}  // namespace rehearse::detail

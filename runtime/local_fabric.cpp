#include "runtime/local_fabric.hpp"

#include <algorithm>

namespace rehearse {

namespace {

GroupShape shape_of(Dimension dimension, const RankLayout& layout, const Placement& placement,
                    const Cluster& cluster) {
    GroupShape shape{layout.size(dimension), 1};
    std::vector<NodeId> nodes(shape.size);
    for (std::uint32_t first = 0; shape.size > 1 && first < layout.rank_count(); ++first) {
        Coordinate at = layout.coordinate(RankId{first});
        if (at[dimension] != 0) continue;
        for (std::uint32_t i = 0; i < shape.size; ++i) {
            at[dimension] = i;
            nodes[i] = cluster.node_of(placement.gpu(layout.rank(at)));
        }
        std::sort(nodes.begin(), nodes.end());
        const auto distinct = std::unique(nodes.begin(), nodes.end()) - nodes.begin();
        shape.nodes = std::max(shape.nodes, static_cast<std::uint32_t>(distinct));
    }
    return shape;
}

GroupShape expert_shape(const ParallelSpec& parallel, const RankLayout& layout, const Placement& placement,
                        const Cluster& cluster) {
    GroupShape shape{static_cast<std::uint32_t>(parallel.expert), 1};
    for (const std::vector<RankId>& group : exchange_groups(parallel, layout)) {
        std::vector<NodeId> nodes;
        for (const RankId rank : group) nodes.push_back(cluster.node_of(placement.gpu(rank)));
        std::sort(nodes.begin(), nodes.end());
        const auto distinct = std::unique(nodes.begin(), nodes.end()) - nodes.begin();
        shape.nodes = std::max(shape.nodes, static_cast<std::uint32_t>(distinct));
    }
    return shape;
}

}  // namespace

LocalFabric local_fabric(const ParallelSpec& parallel, const RankLayout& layout, const Placement& placement,
                         const Cluster& cluster) {
    const NodeSpec& node = cluster.spec().node;
    return {shape_of(Dimension::tensor, layout, placement, cluster),
            shape_of(Dimension::context, layout, placement, cluster),
            cluster.gpus_per_node(), node.nic * Ratio{static_cast<double>(node.nics)},
            expert_shape(parallel, layout, placement, cluster)};
}

}  // namespace rehearse

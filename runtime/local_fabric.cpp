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

// The ranks that rows are exchanged among: one of each that cuts an expert.
GroupShape expert_shape(const ParallelSpec& parallel, const RankLayout& layout, const Placement& placement,
                        const Cluster& cluster) {
    GroupShape shape{static_cast<std::uint32_t>(parallel.expert), 1};
    const auto width = static_cast<std::uint32_t>(parallel.expert_width());
    for (std::uint32_t group = 0; shape.size > 1 && group < layout.group_count(GroupFamily::local); ++group) {
        const std::vector<RankId> members = layout.members(GroupFamily::local, group);
        std::vector<NodeId> nodes;
        for (std::size_t i = 0; i < members.size(); i += width)
            nodes.push_back(cluster.node_of(placement.gpu(members[i])));
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

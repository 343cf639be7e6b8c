// Which groups leave their node, on nodes of eight GPUs filled in rank order. With tensor t fastest a tensor group is t
// consecutive GPUs and a context group has stride t, so it touches ceil(t c / 8) nodes of its t c consecutive ranks.
#include "runtime/local_fabric.hpp"

#include <gtest/gtest.h>

namespace rehearse {
namespace {

struct Nodes {
    std::uint32_t tensor, context;
    friend bool operator==(const Nodes&, const Nodes&) = default;
};

Nodes nodes_of(const ParallelSpec& parallel) {
    const RankLayout layout(parallel);
    ClusterSpec spec;
    spec.hosts = (layout.rank_count() + 7) / 8;
    const Cluster cluster = build_cluster(spec);
    std::vector<GpuId> gpus;
    for (std::uint32_t i = 0; i < layout.rank_count(); ++i) gpus.emplace_back(i);
    const LocalFabric fabric = local_fabric(parallel, layout, Placement(gpus, cluster.gpu_count()), cluster);
    EXPECT_EQ(fabric.tensor.size, layout.size(Dimension::tensor));
    EXPECT_EQ(fabric.context.size, layout.size(Dimension::context));
    return {fabric.tensor.nodes, fabric.context.nodes};
}

TEST(LocalFabric, NodesOfGroupsInRankOrder) {
    ParallelSpec parallel;
    const auto with = [&](std::int64_t tensor, std::int64_t context) {
        parallel.tensor = tensor;
        parallel.context = context;
        parallel.data = 4;
        return nodes_of(parallel);
    };
    EXPECT_EQ(with(1, 1), (Nodes{1, 1}));
    EXPECT_EQ(with(2, 4), (Nodes{1, 1}));
    EXPECT_EQ(with(8, 2), (Nodes{1, 2}));
    EXPECT_EQ(with(4, 8), (Nodes{1, 4}));
    EXPECT_EQ(with(16, 1), (Nodes{2, 1}));
    // Data fastest: neighbours in the tensor group are four GPUs apart.
    parallel.rank_order = {Dimension::data, Dimension::tensor, Dimension::context, Dimension::pipeline};
    EXPECT_EQ(with(4, 1), (Nodes{2, 1}));
    EXPECT_EQ(with(2, 2), (Nodes{1, 2}));
}

}  // namespace
}  // namespace rehearse

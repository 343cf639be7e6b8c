// A slice names ranks; the network knows GPUs.
#include <gtest/gtest.h>

#include <array>

#include "runtime/simulate.hpp"

namespace rehearse {
namespace {

TEST(PlaceSlice, FollowsThePlacement) {
    ClusterSpec spec;
    spec.hosts = 2;
    const Cluster cluster = build_cluster(spec);
    std::vector<GpuId> gpus;
    for (std::uint32_t rank = 0; rank < 16; ++rank) gpus.emplace_back(15 - rank);  // backwards
    const Placement placement(gpus, cluster.gpu_count());
    SliceSpec ranks;
    ranks.ranks = SliceSpec::Ranks{0, 1};
    const TrafficSlice slice = place_slice(ranks, placement, cluster);
    const auto holds = [&](std::uint32_t from, std::uint32_t to) {
        const std::array ends{GpuId{from}, GpuId{to}};
        TransferRequest request;
        request.gpus = ends;
        return slice.holds(SimTime{}, request);
    };
    EXPECT_TRUE(holds(15, 3));
    EXPECT_TRUE(holds(0, 14));
    EXPECT_FALSE(holds(0, 13));
}

}  // namespace
}  // namespace rehearse

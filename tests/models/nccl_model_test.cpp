// NCCL's algorithms over two tiers: hops and shares by hand, times from them, the choice of the fastest.
#include "models/collectives/nccl_model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "models/collectives/collective.hpp"
#include "models/collectives/nccl_fit.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

using enum NcclAlgorithm;
constexpr CollectiveKind all_reduce = CollectiveKind::all_reduce;

NcclCosts costs_of(NcclAlgorithm algorithm) {
    NcclCosts costs;
    costs.algorithm = algorithm;
    costs.launch = microseconds(10);
    costs.nvlink = {microseconds(2), gigabytes_per_second(200)};
    costs.network = {microseconds(5), gigabytes_per_second(400)};
    return costs;
}

// 2 nodes of 8: a ring of 16 links, of which 2 cross the network; 30 steps, an eighth of them there.
TEST(NcclModel, RingCrossesTheNetworkOncePerNode) {
    const NcclShape shape = *nccl_shape(all_reduce, ring, {2, 8});
    EXPECT_DOUBLE_EQ(shape.hops_network, 30.0 * 2 / 16);
    EXPECT_DOUBLE_EQ(shape.hops_nvlink, 30.0 * 14 / 16);
    EXPECT_DOUBLE_EQ(shape.share_nvlink, 30.0 / 16);
    EXPECT_DOUBLE_EQ(shape.share_network, 30.0 / 16);
    const NcclShape gather = *nccl_shape(CollectiveKind::all_gather, ring, {2, 8});
    EXPECT_DOUBLE_EQ(gather.hops_network, shape.hops_network / 2);
    EXPECT_DOUBLE_EQ(gather.share_nvlink, shape.share_nvlink / 2);
}

// On one node, without launch, a ring is the closed form of collective.hpp.
TEST(NcclModel, RingOfOneNodeIsTheClosedForm) {
    NcclCosts costs = costs_of(ring);
    costs.launch = {};
    for (const std::int64_t gpus : {2, 3, 8}) {
        const Bytes size{1 << 26};
        const double closed =
            collective_time(all_reduce, CollectiveAlgorithm::ring, gpus, size, costs.nvlink.hop, costs.nvlink.rate)
                .seconds();
        EXPECT_NEAR(nccl_seconds(costs, all_reduce, {1, gpus}, size), closed, 1e-11) << gpus;
    }
}

// Two complementary trees: of 2 nodes each sends S, of more the busiest sends 2 S; levels grow as the logarithm.
TEST(NcclModel, TreesAmongNodes) {
    for (const auto& [nodes, levels, share] :
         {std::array{1.0, 0.0, 0.0}, {2.0, 1.0, 1.0}, {3.0, 2.0, 2.0}, {4.0, 2.0, 2.0}, {16.0, 4.0, 2.0}}) {
        for (const NcclAlgorithm algorithm : {tree, nvls}) {
            const NcclShape shape = *nccl_shape(all_reduce, algorithm, {static_cast<std::int64_t>(nodes), 8});
            EXPECT_EQ(shape.hops_network, 2 * levels) << nodes;
            EXPECT_EQ(shape.share_network, share) << nodes;
            EXPECT_EQ(shape.hops_nvlink, algorithm == nvls ? 2 : 14);
            EXPECT_EQ(shape.share_nvlink, algorithm == nvls ? 1 : 1.75);
        }
    }
}

// 4 nodes, NVLS: 10 + 2 x 2 + 4 x 5 = 34 us; the network sends 2 S at 400 GB/s, NVLink S at 200: S / 200 GB/s either
// way. The chunk of 1 MiB fills 2 hops of 1/200 and 4 of 2/400: 6 MiB / 200 GB/s.
TEST(NcclModel, TimeIsLatencyFillingAndTheSlowerTier) {
    NcclCosts costs = costs_of(nvls);
    const Bytes size{std::int64_t{1} << 30};
    const double wire = static_cast<double>(size.value) / 200e9;
    EXPECT_NEAR(nccl_seconds(costs, all_reduce, {4, 8}, size), 34e-6 + wire, 1e-12);
    costs.chunk_max = Bytes{1 << 20};
    costs.chunk_cost = milliseconds(100);  // dear: the chunk is as large as the buffer
    EXPECT_NEAR(nccl_seconds(costs, all_reduce, {4, 8}, size), 34e-6 + wire + 6.0 * (1 << 20) / 200e9, 1e-12);
    costs.chunk_cost = microseconds(1);    // cheap: sqrt(1 us x S x fill), fill = 6 / 200 GB/s
    EXPECT_NEAR(nccl_seconds(costs, all_reduce, {4, 8}, Bytes{1 << 20}),
                34e-6 + (1 << 20) / 200e9 + std::sqrt(1e-6 * (1 << 20) * 6 / 200e9), 1e-12);
    costs.chunk_max = {};
    costs.pass = gigabytes_per_second(1000);
    EXPECT_NEAR(nccl_seconds(costs, all_reduce, {4, 8}, size), 34e-6 + wire * 1.2, 1e-12);
}

// Without a switch in the way a direct all-to-all of 2 x 4 sends 3/8 of S over NVLink and 4 x 4/8 S out of a node.
TEST(NcclModel, DirectAllToAll) {
    const NcclShape shape = *nccl_shape(CollectiveKind::all_to_all, direct, {2, 4});
    EXPECT_DOUBLE_EQ(shape.share_nvlink, 3.0 / 8);
    EXPECT_DOUBLE_EQ(shape.share_network, 2.0);
    EXPECT_DOUBLE_EQ(shape.hops_nvlink, 3);
    EXPECT_DOUBLE_EQ(shape.hops_network, 4);
}

TEST(NcclModel, TheFastestRunsUnlessOneIsForced) {
    NcclCosts quick = costs_of(tree), wide = costs_of(ring);
    quick.protocol = NcclProtocol::ll;
    quick.nvlink = {nanoseconds(100), gigabytes_per_second(10)};
    const std::array sets{quick, wide};
    EXPECT_EQ(nccl_fastest(sets, all_reduce, {1, 8}, Bytes{1024}).costs->algorithm, tree);
    EXPECT_EQ(nccl_fastest(sets, all_reduce, {1, 8}, Bytes{1 << 28}).costs->algorithm, ring);
    EXPECT_EQ(nccl_fastest(sets, all_reduce, {1, 8}, Bytes{1024}, ring).costs->algorithm, ring);
    EXPECT_EQ(nccl_fastest(sets, CollectiveKind::all_gather, {1, 8}, Bytes{1}).costs->algorithm, ring);
    EXPECT_THROW(nccl_fastest(sets, CollectiveKind::all_to_all, {1, 8}, Bytes{1}), InvariantBroken);
    EXPECT_THROW(nccl_seconds(quick, CollectiveKind::broadcast, {1, 8}, Bytes{1}), InvariantBroken);
    EXPECT_THROW((void)nccl_shape(all_reduce, ring, {0, 8}), InvariantBroken);
}

// More bytes, nodes or latency never make a collective faster.
TEST(NcclModel, NothingGetsFasterByMoreWork) {
    for (const NcclAlgorithm algorithm : {ring, tree, nvls}) {
        NcclCosts costs = costs_of(algorithm);
        costs.chunk_max = algorithm == ring ? Bytes{} : Bytes{4 << 20};
        costs.chunk_cost = microseconds(5);
        double before = 0;
        for (std::int64_t size = 1; size < std::int64_t{1} << 34; size *= 4) {
            const double now = nccl_seconds(costs, all_reduce, {4, 8}, Bytes{size});
            EXPECT_GE(now, before);
            EXPECT_GE(nccl_seconds(costs, all_reduce, {8, 8}, Bytes{size}), now);
            before = now;
        }
    }
}

std::vector<NcclSample> made_by(const NcclCosts& truth, const NodeGroup& group) {
    std::vector<NcclSample> samples;
    for (std::int64_t size = 1 << 20; size <= std::int64_t{1} << 34; size *= 2)
        samples.push_back({all_reduce, group, Bytes{size}, nccl_seconds(truth, all_reduce, group, Bytes{size})});
    return samples;
}

// Times made by known costs on 2 nodes give them back from a start that is far off, and so the times on 8.
TEST(NcclFit, RecoversWhatMadeTheTimes) {
    NcclCosts truth = costs_of(nvls);
    truth.launch = {};
    truth.nvlink.hop = truth.network.hop = microseconds(12);
    truth.chunk_max = Bytes{12 << 20};
    truth.chunk_cost = microseconds(20);
    NcclCosts start = truth;
    start.nvlink = {microseconds(40), gigabytes_per_second(90)};
    start.network.hop = start.nvlink.hop;
    start.chunk_max = Bytes{2 << 20};
    start.chunk_cost = microseconds(3);
    const std::array free{NcclParameter::hop, NcclParameter::rate_nvlink, NcclParameter::chunk};
    const NcclCosts found = fit_nccl(start, free, made_by(truth, {2, 8}));
    EXPECT_NEAR(found.network.hop.seconds(), 12e-6, 0.2e-6);
    EXPECT_EQ(found.network.hop, found.nvlink.hop);
    EXPECT_NEAR(found.nvlink.rate.bytes_per_second(), 200e9, 1e9);
    EXPECT_EQ(found.network.rate, truth.network.rate);
    EXPECT_LT(geometric_mean_error(nccl_ratios({&found, 1}, made_by(truth, {8, 8}))), 0.01);
}

TEST(NcclFit, ErrorsOfRatios) {
    const std::array ratios{2.0, 0.5, 1.0, 1.0};
    EXPECT_NEAR(geometric_mean_error(ratios), std::sqrt(2.0) - 1, 1e-12);
    EXPECT_NEAR(mean_error(ratios), 1.5 / 4, 1e-12);
    EXPECT_EQ(every_other(std::vector{0, 1, 2, 3, 4}, Parity::odd), (std::vector{1, 3}));
    EXPECT_EQ(every_other(std::vector{0, 1, 2, 3, 4}, Parity::even), (std::vector{0, 2, 4}));
    EXPECT_THROW(fit_nccl(costs_of(ring), {}, {}), InvariantBroken);
}

}  // namespace
}  // namespace rehearse

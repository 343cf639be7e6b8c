#include "runtime/scheduler/place.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

constexpr PlacementPolicy every_policy[] = {PlacementPolicy::packed, PlacementPolicy::rail_aligned,
                                            PlacementPolicy::spread, PlacementPolicy::random,
                                            PlacementPolicy::topology_aware};

Cluster make_cluster(std::int64_t hosts) {
    ClusterSpec spec;
    spec.hosts = hosts;
    return build_cluster(spec);
}

// Groups along one dimension of a grid of ranks: {base + stride x i, i < size}.
std::vector<std::vector<RankId>> grid_groups(std::uint32_t ranks, std::uint32_t size, std::uint32_t stride) {
    std::vector<std::vector<RankId>> groups;
    for (std::uint32_t base = 0; base < ranks; ++base) {
        if (base / stride % size != 0) continue;
        std::vector<RankId> group;
        for (std::uint32_t i = 0; i < size; ++i) group.emplace_back(base + i * stride);
        groups.push_back(std::move(group));
    }
    return groups;
}

// Dense training: tensor 8 fastest, then data and pipeline, or pipeline and data. Bytes per step of a 175B model, HPN
// (SIGCOMM'24): data 5.5 GB, pipeline 6 MB, tensor 560 MB.
enum class RankOrder { tensor_data_pipeline, tensor_pipeline_data };
JobTraffic dense_job(std::uint32_t data, std::uint32_t pipeline, RankOrder order) {
    const std::uint32_t ranks = 8 * data * pipeline;
    const bool data_first = order == RankOrder::tensor_data_pipeline;
    return {{{"tensor", GroupPattern::ring, grid_groups(ranks, 8, 1), 560e6},
             {"data", GroupPattern::ring, grid_groups(ranks, data, data_first ? 8 : 8 * pipeline), 5.5e9},
             {"pipeline", GroupPattern::chain, grid_groups(ranks, pipeline, data_first ? 8 * data : 8), 6e6}}};
}

// Experts over every `stride`-th rank: all-to-all heavier than data parallelism.
JobTraffic expert_job(std::uint32_t ranks, std::uint32_t experts, std::uint32_t stride) {
    return {{{"expert", GroupPattern::all_to_all, grid_groups(ranks, experts, stride), 2e9},
             {"data", GroupPattern::ring, grid_groups(ranks, ranks / 8, 8), 1e9}}};
}

double cost(const JobTraffic& job, std::uint32_t ranks, std::uint32_t block, const Cluster& cluster,
            PlacementPolicy policy) {
    return bytes_per_tier(job, place(job, ranks, block, cluster, policy, 1), cluster).bytes_times_tier();
}

// rank -> GPU is one to one; a block of ranks lies in one host, in order.
TEST(Place, BlocksStayInHostsAndRanksAreDistinct) {
    const Cluster cluster = make_cluster(300);
    for (std::uint32_t block : {1u, 2u, 3u, 4u, 8u, 16u})
        for (PlacementPolicy policy : every_policy) {
            SCOPED_TRACE(std::string(name(policy)) + " " + std::to_string(block));
            const std::uint32_t ranks = 1300;
            const Placement placement = place({}, ranks, block, cluster, policy, 7);
            ASSERT_EQ(placement.rank_count(), ranks);
            std::set<std::uint32_t> gpus;
            const std::uint32_t in_host = std::min(block, 8u);
            for (std::uint32_t r = 0; r < ranks; ++r) {
                const GpuId gpu = placement.gpu(RankId{r});
                EXPECT_TRUE(gpus.insert(gpu.value).second);
                EXPECT_LT(gpu.value, cluster.gpu_count());
                if (r % in_host == 0) continue;
                EXPECT_EQ(gpu.value, placement.gpu(RankId{r - 1}).value + 1);
                EXPECT_EQ(cluster.node_of(gpu), cluster.node_of(placement.gpu(RankId{r - 1})));
            }
        }
}

TEST(Place, PackedIsTheIdentityForWholeHosts) {
    const Cluster cluster = make_cluster(64);
    const Placement placement = place({}, 512, 8, cluster, PlacementPolicy::packed, 1);
    for (std::uint32_t r = 0; r < 512; ++r) EXPECT_EQ(placement.gpu(RankId{r}).value, r);
}

// Blocks of 4: neighbouring blocks alternate between GPUs 0-3 and 4-7 when packed, and share a rail when rail-aligned.
TEST(Place, RailAlignedKeepsNeighboursOnOneRail) {
    const Cluster cluster = make_cluster(64);
    const Placement aligned = place({}, 256, 4, cluster, PlacementPolicy::rail_aligned, 1);
    for (std::uint32_t r = 4; r < 256; ++r)
        EXPECT_EQ(cluster.highest_tier(aligned.gpu(RankId{r}), aligned.gpu(RankId{r - 4})), LinkTier::host);
}

// 8 ToR sets in 2 pods: eight consecutive blocks lie in eight sets, neighbours in different pods.
TEST(Place, SpreadTakesSetsInTurn) {
    const Cluster cluster = make_cluster(512);
    const Placement spread = place({}, 64 * 8, 8, cluster, PlacementPolicy::spread, 1);
    std::set<std::uint32_t> sets;
    for (std::uint32_t block = 0; block < 8; ++block) {
        const GpuId gpu = spread.gpu(RankId{block * 8});
        sets.insert(cluster.tor_index(gpu) / 8);
        if (block > 0) {
            EXPECT_EQ(cluster.highest_tier(gpu, spread.gpu(RankId{block * 8 - 8})), LinkTier::core);
        }
    }
    EXPECT_EQ(sets.size(), 8u);
}

TEST(Place, RandomFollowsTheSeed) {
    const Cluster cluster = make_cluster(128);
    const auto draw = [&](std::uint64_t seed) {
        return place({}, 512, 8, cluster, PlacementPolicy::random, seed).gpus();
    };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
}

// By hand, two hosts of one ToR set and one of another pod. Ring over GPUs 0 of the three hosts, 10 bytes each: one hop
// under a ToR, two over the core. All-to-all over the same, 10 each: 4 ordered pairs over the core and 2 under the ToR,
// 5 bytes a pair. Chain: 2 x 10 under the ToR and 2 x 10 over the core.
TEST(BytesPerTier, ByHand) {
    const Cluster cluster = make_cluster(300);
    const Placement placement({GpuId{0}, GpuId{8}, GpuId{8 * 260}}, cluster.gpu_count());
    const auto tiers = [&](GroupPattern pattern) {
        return bytes_per_tier({{{"x", pattern, {{RankId{0}, RankId{1}, RankId{2}}}, 10.0}}}, placement, cluster);
    };
    const TierBytes ring = tiers(GroupPattern::ring), all = tiers(GroupPattern::all_to_all);
    EXPECT_DOUBLE_EQ(ring.at(LinkTier::host), 10);
    EXPECT_DOUBLE_EQ(ring.at(LinkTier::core), 20);
    EXPECT_DOUBLE_EQ(ring.bytes_times_tier(), 10 + 3 * 20);
    EXPECT_DOUBLE_EQ(all.at(LinkTier::host), 10);
    EXPECT_DOUBLE_EQ(all.at(LinkTier::core), 20);
    const TierBytes chain = tiers(GroupPattern::chain);
    EXPECT_DOUBLE_EQ(chain.at(LinkTier::host), 20);
    EXPECT_DOUBLE_EQ(chain.at(LinkTier::core), 20);
}

// The counting of all-to-all pairs by sorting equals the obvious double loop.
TEST(BytesPerTier, AllToAllEqualsTheDoubleLoop) {
    for (FabricKind kind : {FabricKind::clos, FabricKind::rail_only}) {
        ClusterSpec spec;
        spec.hosts = 512;
        spec.fabric.kind = kind;
        const Cluster cluster = build_cluster(spec);
        std::uint64_t state = 4;
        for (int round = 0; round < 20; ++round) {
            std::vector<GpuId> gpus;
            std::vector<RankId> group;
            std::set<std::uint32_t> taken;
            while (gpus.size() < 40) {
                const auto gpu = static_cast<std::uint32_t>(splitmix64(state) % (round < 10 ? 4096 : 200));
                if (!taken.insert(gpu).second) continue;
                group.emplace_back(static_cast<std::uint32_t>(gpus.size()));
                gpus.emplace_back(gpu);
            }
            TierBytes expected;
            for (GpuId a : gpus)
                for (GpuId b : gpus)
                    if (a != b) expected.bytes[static_cast<std::size_t>(cluster.highest_tier(a, b))] += 1;
            const TierBytes counted = bytes_per_tier({{{"x", GroupPattern::all_to_all, {group}, 39.0}}},
                                                     Placement(gpus, cluster.gpu_count()), cluster);
            for (std::size_t tier = 0; tier < link_tier_count; ++tier)
                EXPECT_DOUBLE_EQ(counted.bytes[tier], expected.bytes[tier]);
        }
    }
}

TEST(TopologyAware, NeverWorseThanTheOthers) {
    const Cluster cluster = make_cluster(320);
    const std::pair<std::uint32_t, JobTraffic> jobs[] = {
        {2048, dense_job(32, 8, RankOrder::tensor_data_pipeline)},
        {2048, dense_job(32, 8, RankOrder::tensor_pipeline_data)},
        {1920, dense_job(48, 5, RankOrder::tensor_pipeline_data)},
        {2048, expert_job(2048, 16, 8)},
        {2048, expert_job(2048, 16, 128)},
        {2304, expert_job(2304, 24, 96)},
    };
    for (const auto& [ranks, job] : jobs)
        for (std::uint32_t block : {8u, 4u, 2u}) {
            const double aware = cost(job, ranks, block, cluster, PlacementPolicy::topology_aware);
            for (PlacementPolicy policy : every_policy)
                EXPECT_LE(aware, cost(job, ranks, block, cluster, policy) * (1 + 1e-9)) << name(policy) << " " << block;
        }
}

// Experts on every 16th host: packed, each of the 128 groups spans the 4 ToR sets of a pod. Kept together, a group of
// 16 hosts lies in one set, and all of its traffic stays under the ToRs.
TEST(TopologyAware, GathersScatteredExperts) {
    const Cluster cluster = make_cluster(256);
    JobTraffic job = expert_job(2048, 16, 128);
    job.families.pop_back();
    const auto bytes = [&](PlacementPolicy policy) {
        return bytes_per_tier(job, place(job, 2048, 8, cluster, policy, 1), cluster);
    };
    const TierBytes packed = bytes(PlacementPolicy::packed), aware = bytes(PlacementPolicy::topology_aware);
    EXPECT_DOUBLE_EQ(packed.at(LinkTier::aggregation), 2048 * 2e9 * 12 / 15);  // 12 of 15 peers in other sets
    EXPECT_DOUBLE_EQ(aware.at(LinkTier::aggregation), 0);
    EXPECT_NEAR(aware.at(LinkTier::host), 2048 * 2e9, 1);
}

// Groups of 24 hosts do not divide a set of 64. With 20 groups on 12 sets there is room to keep each in one set.
TEST(TopologyAware, KeepsGroupsWholeWhereRoomAllows) {
    const Cluster cluster = make_cluster(12 * 64);
    const std::uint32_t ranks = 20 * 24 * 8;
    const JobTraffic job{{{"expert", GroupPattern::all_to_all, grid_groups(ranks, 24, 8), 1e9}}};
    const TierBytes aware =
        bytes_per_tier(job, place(job, ranks, 8, cluster, PlacementPolicy::topology_aware, 1), cluster);
    EXPECT_DOUBLE_EQ(aware.at(LinkTier::aggregation), 0);
    EXPECT_DOUBLE_EQ(aware.at(LinkTier::core), 0);
}

TEST(Place, RefusesWhatDoesNotFit) {
    const Cluster cluster = make_cluster(64);
    const auto path = [&](std::uint32_t ranks, std::uint32_t block) {
        try {
            place({}, ranks, block, cluster, PlacementPolicy::packed, 1);
        } catch (const InputError& error) {
            return error.faults().at(0).path;
        }
        return std::string("placed");
    };
    EXPECT_EQ(path(512, 8), "placed");
    EXPECT_EQ(path(513, 8), "job.gpus");
    EXPECT_EQ(path(0, 8), "job.gpus");
    EXPECT_EQ(path(8, 0), "job");
    EXPECT_EQ(path(8, 12), "job");
    EXPECT_EQ(path(512, 5), "job.gpus");  // one block of 5 per host: 103 hosts
}

}  // namespace
}  // namespace rehearse

#include "topology/router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/base/rng.hpp"
#include "tests/topology/fabrics.hpp"

namespace rehearse {
namespace {

// Every link starts where the last ended, the walk begins at the source and ends at the destination, meets no vertex
// twice, climbs then descends, never above the tier that joins the two, and takes only links that next_hops() offers.
void expect_valid(const Router& router, const FlowKey& key) {
    const Cluster& cluster = router.cluster();
    const Path path = router.route(key);
    VertexId at = cluster.gpu_vertex(key.source);
    std::set<std::uint32_t> seen{at.value};
    std::vector<VertexKind> fabric;  // kinds from the last GPU before the fabric on
    std::size_t tier_max = 0;
    for (LinkId id : path.links()) {
        const auto offered = router.next_hops(at, key.destination);
        ASSERT_NE(std::find(offered.begin(), offered.end(), id), offered.end());
        const Link& link = cluster.link(id);
        ASSERT_EQ(link.from, at);
        at = link.to;
        ASSERT_TRUE(seen.insert(at.value).second) << "a loop at " << cluster.vertex_name(at);
        if (link.tier != LinkTier::nvlink) fabric.push_back(cluster.vertex(at).kind);
        tier_max = std::max(tier_max, static_cast<std::size_t>(link.tier));
    }
    ASSERT_EQ(at, cluster.gpu_vertex(key.destination));
    if (key.source == key.destination) return;
    EXPECT_TRUE(router.next_hops(at, key.destination).empty());
    EXPECT_EQ(tier_max, static_cast<std::size_t>(cluster.highest_tier(key.source, key.destination)));
    const auto top = std::max_element(fabric.begin(), fabric.end());
    EXPECT_TRUE(std::adjacent_find(fabric.begin(), top, std::greater_equal<>()) == top || fabric.empty());
    EXPECT_TRUE(std::adjacent_find(top, fabric.end(), std::less_equal<>()) == fabric.end());
}

TEST(Router, EveryRouteOfSmallFabrics) {
    for (const auto& [label, spec] : testing::small_fabrics()) {
        SCOPED_TRACE(label);
        const Cluster cluster = build_cluster(spec);
        for (HashFunction hash : {HashFunction::crc32, HashFunction::jenkins, HashFunction::d_mod_k}) {
            const Router router(cluster, {.hash = hash}, 11);
            for (GpuId a{0}; a.value < cluster.gpu_count(); ++a.value)
                for (GpuId b{0}; b.value < cluster.gpu_count(); ++b.value) expect_valid(router, {a, b, a.value % 3});
        }
    }
}

TEST(Router, RandomRoutesOfLargeFabrics) {
    ClusterSpec rail_only = testing::clos(1536);
    rail_only.fabric.kind = FabricKind::rail_only;
    for (const ClusterSpec& spec : {testing::clos(1536), testing::clos(12288), testing::clos(300), rail_only}) {
        const Cluster cluster = build_cluster(spec);
        const Router router(cluster, {}, 5);
        std::uint64_t state = 1;
        const auto gpu = [&] { return GpuId{static_cast<std::uint32_t>(splitmix64(state) % cluster.gpu_count())}; };
        for (int i = 0; i < 2000; ++i) expect_valid(router, {gpu(), gpu(), static_cast<std::uint32_t>(i)});
    }
}

// Off the rail of the destination, a rail-only fabric crosses NVLink first and then stays on that rail.
TEST(Router, RailOnlyCrossesNvlinkFirst) {
    ClusterSpec spec = testing::clos(128);
    spec.fabric.kind = FabricKind::rail_only;
    const Cluster cluster = build_cluster(spec);
    const Router router(cluster, {}, 1);
    const Path path = router.route({GpuId{2}, GpuId{100 * 8 + 5}});
    const auto links = path.links();
    ASSERT_EQ(links.size(), 8u);  // NVLink 2, PCIe, host, up, down, host, PCIe
    EXPECT_EQ(cluster.vertex_name(cluster.link(links[1]).to), "node0.gpu5");
    EXPECT_EQ(cluster.vertex_name(cluster.link(links[3]).to), "pod0.set0.tor5");
}

// Defaults, one way: PCIe 200 ns + NIC 500 and link 350 and ToR 750 + ... Under one ToR 200 + 1,600 + 850 + 200 = 2,850
// ns; in a pod two more links into switches, 1,100 ns each; over the core four more. In a host NVLink 500 ns.
TEST(Router, PathLatency) {
    const Cluster cluster = build_cluster(testing::clos(512));
    const Router router(cluster, {}, 1);
    const auto latency = [&](std::uint32_t host, std::uint32_t index) {
        SimDuration sum;
        const Path path = router.route({GpuId{0}, GpuId{host * 8 + index}});
        for (LinkId id : path.links()) sum += cluster.link(id).latency;
        return sum;
    };
    EXPECT_EQ(latency(0, 5), nanoseconds(500));
    EXPECT_EQ(latency(1, 0), nanoseconds(2850));
    EXPECT_EQ(latency(1, 1), nanoseconds(2850 + 2 * 1100));
    EXPECT_EQ(latency(511, 0), nanoseconds(2850 + 4 * 1100));
}

TEST(Router, EqualSeedsGiveEqualRoutes) {
    const Cluster cluster = build_cluster(testing::clos(512));
    const Router a(cluster, {}, 3), b(cluster, {}, 3), c(cluster, {}, 4);
    int differences = 0;
    for (std::uint32_t i = 0; i < 200; ++i) {
        const FlowKey key{GpuId{i}, GpuId{4095 - i}, i};
        const Path pa = a.route(key), pb = b.route(key), pc = c.route(key);
        EXPECT_TRUE(std::equal(pa.links().begin(), pa.links().end(), pb.links().begin(), pb.links().end()));
        differences += !std::equal(pa.links().begin(), pa.links().end(), pc.links().begin(), pc.links().end());
    }
    EXPECT_GT(differences, 150);
}

}  // namespace
}  // namespace rehearse

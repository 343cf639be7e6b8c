#include "topology/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/topology/fabrics.hpp"
#include "topology/fabric_checks.hpp"

namespace rehearse {
namespace {

using testing::clos;

std::map<std::string, std::int64_t> link_counts(const Cluster& cluster) {
    std::map<std::string, std::int64_t> counts;
    for (const Link& link : cluster.links()) counts[std::string(name(link.tier))] += 1;
    return counts;
}

void expect_all_pass(const Cluster& cluster) {
    for (const FabricCheck& check : check_fabric(cluster))
        EXPECT_TRUE(check.passed) << check.name << ": " << check.value << " against " << check.bound;
}

// 12,288 GPUs = 1,536 hosts = 24 ToR sets = 6 pods. ToRs 24 x 8 = 192. Aggregation switches 6 x 32 = 192. Planes 32,
// and c = smallest divisor of 32 with 6 x 32 / c <= 64: c = 4, 8 parallel links. Links one way per tier: 12,288 host,
// 192 x 32 = 6,144 aggregation, 192 x 32 = 6,144 core.
TEST(Cluster, MegaScaleCounts) {
    const Cluster cluster = build_cluster(clos(1536));
    const FabricShape& shape = cluster.shape();
    EXPECT_EQ(cluster.gpu_count(), 12288u);
    EXPECT_EQ(shape.pods, 6u);
    EXPECT_EQ(shape.tor_sets, 24u);
    EXPECT_EQ(shape.hosts_per_tor_set, 64u);
    EXPECT_EQ(shape.tor_count(), 192u);
    EXPECT_EQ(shape.tor_up_links, 32u);
    EXPECT_EQ(shape.aggregation_count(), 192u);
    EXPECT_EQ(shape.links_per_tor, 1u);
    EXPECT_EQ(shape.aggregations_per_group, 32u);
    EXPECT_EQ(shape.cores_per_plane, 4u);
    EXPECT_EQ(shape.links_per_core, 8u);
    EXPECT_EQ(shape.core_count(), 128u);
    auto counts = link_counts(cluster);
    EXPECT_EQ(counts["host"], 2 * 12288);
    EXPECT_EQ(counts["pcie"], 2 * 12288);
    EXPECT_EQ(counts["nvlink"], 2 * 12288);
    EXPECT_EQ(counts["aggregation"], 2 * 6144);
    EXPECT_EQ(counts["core"], 2 * 6144);
}

// 1:1: down 64 x 200G = up 32 x 400G = 12.8 Tb/s at a ToR; 32 x 400G both ways at an aggregation switch; a core gives
// 8 x 400G to each of 6 pods; the core takes in what the hosts send: 12,288 x 200G = 6,144 x 400G.
TEST(Cluster, MegaScaleIsOneToOneAtEveryTier) {
    const Cluster cluster = build_cluster(clos(1536));
    std::map<std::string, double> values;
    for (const FabricCheck& check : check_fabric(cluster)) {
        EXPECT_TRUE(check.passed) << check.name;
        values[check.name] = check.value;
    }
    EXPECT_DOUBLE_EQ(values.at("tor 1:1"), 1.0);
    EXPECT_DOUBLE_EQ(values.at("aggregation 1:1"), 1.0);
    EXPECT_DOUBLE_EQ(values.at("core 1:1"), 1.0);
    EXPECT_DOUBLE_EQ(values.at("core even"), 1.0);
    EXPECT_DOUBLE_EQ(values.at("tor ports"), 64);
    EXPECT_DOUBLE_EQ(values.at("aggregation ports"), 64);
    EXPECT_DOUBLE_EQ(values.at("core ports"), 48);
    EXPECT_DOUBLE_EQ(values.at("connected"), 12288 * 2 + 1536 + 192 + 192 + 128);
}

// 98,304 GPUs = 48 pods: c = 32 (48 x 32 / 32 = 48 <= 64), single links. Links one way: 5 tiers, 98,304 + 98,304 +
// 98,304 + 1,536 x 32 + 1,536 x 32 = 393,216.
TEST(Cluster, LargestPublishedScaleBuilds) {
    const Cluster cluster = build_cluster(clos(12288));
    EXPECT_EQ(cluster.shape().pods, 48u);
    EXPECT_EQ(cluster.shape().cores_per_plane, 32u);
    EXPECT_EQ(cluster.shape().links_per_core, 1u);
    EXPECT_EQ(cluster.links().size(), 2u * 393216u);
    expect_all_pass(cluster);
}

// One pod has no core and keeps its 32 ToRs and 32 aggregation switches though one host is there.
TEST(Cluster, PartFilledPodKeepsItsSwitches) {
    const Cluster one = build_cluster(clos(1));
    EXPECT_EQ(one.shape().tor_count(), 32u);
    EXPECT_EQ(one.shape().aggregation_count(), 32u);
    EXPECT_EQ(one.shape().core_count(), 0u);
    expect_all_pass(one);
    const Cluster two = build_cluster(clos(257));  // 2 pods: c = 1, 32 parallel links
    EXPECT_EQ(two.shape().tor_count(), 64u);
    EXPECT_EQ(two.shape().cores_per_plane, 1u);
    EXPECT_EQ(two.shape().links_per_core, 32u);
    expect_all_pass(two);
}

// Without the split a 400G port serves one NIC: 32 hosts to a ToR set, 32 ports down and 32 up.
TEST(Cluster, WithoutSplit) {
    ClusterSpec spec = clos(64);
    spec.fabric.port_split = false;
    spec.node.nic = gigabits_per_second(400);
    const Cluster cluster = build_cluster(spec);
    EXPECT_EQ(cluster.shape().hosts_per_tor_set, 32u);
    EXPECT_EQ(cluster.shape().tor_sets, 2u);
    EXPECT_EQ(cluster.shape().tor_up_links, 32u);
    expect_all_pass(cluster);
}

// 800G switches, split: 400G NICs, else the default wiring.
TEST(Cluster, EightHundredGigabit) {
    ClusterSpec spec = clos(64);
    spec.fabric.switch_port_rate = gigabits_per_second(800);
    spec.node.nic = gigabits_per_second(400);
    const Cluster cluster = build_cluster(spec);
    EXPECT_EQ(cluster.shape().hosts_per_tor_set, 64u);
    EXPECT_EQ(cluster.shape().tor_up_links, 32u);
    expect_all_pass(cluster);
}

// 2:1 at the ToR: 32 ports down, 16 links up, so 16 aggregation switches, each with 32 links down and 32 up.
TEST(Cluster, Oversubscribed) {
    ClusterSpec spec = clos(512);
    spec.fabric.oversubscription = Ratio{2.0};
    const Cluster cluster = build_cluster(spec);
    EXPECT_EQ(cluster.shape().tor_up_links, 16u);
    EXPECT_EQ(cluster.shape().aggregations_per_group, 16u);
    EXPECT_EQ(cluster.shape().aggregation_up_links, 32u);
    for (const FabricCheck& check : check_fabric(cluster)) {
        EXPECT_TRUE(check.passed) << check.name;
        if (check.name == "tor 1:1") {
            EXPECT_DOUBLE_EQ(check.value, 0.5);
        }
    }
}

// Two tiers: 8 sets = 64 ToRs fill the 64 ports of each of 32 aggregation switches; 9 sets do not fit.
TEST(Cluster, TwoTiers) {
    ClusterSpec spec = clos(512);
    spec.fabric.tiers = 2;
    const Cluster cluster = build_cluster(spec);
    EXPECT_EQ(cluster.shape().pods, 1u);
    EXPECT_EQ(cluster.shape().aggregation_count(), 32u);
    expect_all_pass(cluster);
    spec.hosts = 513;
    EXPECT_THROW(build_cluster(spec), InputError);
}

TEST(Cluster, SmallFabricsPassTheirChecks) {
    for (const auto& [label, spec] : testing::small_fabrics()) {
        SCOPED_TRACE(label);
        expect_all_pass(build_cluster(spec));
    }
}

// In a rail-only fabric no path of NICs and switches joins two rails: the aggregation switches of a rail see its ToRs
// only.
TEST(Cluster, RailOnlyJoinsNoTwoRails) {
    ClusterSpec spec = clos(256);
    spec.fabric.kind = FabricKind::rail_only;
    const Cluster cluster = build_cluster(spec);
    for (const Link& link : cluster.links()) {
        if (link.tier != LinkTier::aggregation || link.from > link.to) continue;
        EXPECT_EQ(cluster.vertex(link.from).index, cluster.vertex(link.to).group);
    }
    expect_all_pass(cluster);
}

TEST(Cluster, LinksAreOrderedAndIndexed) {
    for (const auto& [label, spec] : testing::small_fabrics()) {
        SCOPED_TRACE(label);
        const Cluster cluster = build_cluster(spec);
        std::uint32_t next = 0;
        for (std::uint32_t v = 0; v < cluster.vertices().size(); ++v)
            for (LinkId id : cluster.out_links(VertexId{v})) {
                EXPECT_EQ(id.value, next++);
                EXPECT_EQ(cluster.link(id).from, VertexId{v});
            }
        EXPECT_EQ(next, cluster.links().size());
    }
}

TEST(Cluster, NamesAndAccessors) {
    const Cluster cluster = build_cluster(clos(512));
    const GpuId gpu{8 * 300 + 3};  // host 300: pod 1, set 4 of the cluster, set 0 of its pod
    EXPECT_EQ(cluster.vertex_name(cluster.gpu_vertex(gpu)), "node300.gpu3");
    EXPECT_EQ(cluster.vertex_name(cluster.nic_vertex(gpu)), "node300.nic3");
    EXPECT_EQ(cluster.vertex_name(cluster.nvlink_switch_vertex(NodeId{300})), "node300.nvswitch");
    EXPECT_EQ(cluster.vertex_name(cluster.tor_vertex(cluster.tor_index(gpu))), "pod1.set0.tor3");
    EXPECT_EQ(cluster.vertex_name(cluster.aggregation_vertex(33)), "pod1.agg1");
    EXPECT_EQ(cluster.vertex_name(cluster.core_vertex(3)), "plane3.core0");
}

// Which tier joins two GPUs: one host, one ToR (same set and rail), one pod, else the core.
TEST(Cluster, HighestTier) {
    const Cluster cluster = build_cluster(clos(512));
    const auto gpu = [](std::uint32_t host, std::uint32_t index) { return GpuId{host * 8 + index}; };
    EXPECT_EQ(cluster.highest_tier(gpu(0, 0), gpu(0, 7)), LinkTier::nvlink);
    EXPECT_EQ(cluster.highest_tier(gpu(0, 3), gpu(63, 3)), LinkTier::host);
    EXPECT_EQ(cluster.highest_tier(gpu(0, 3), gpu(63, 4)), LinkTier::aggregation);
    EXPECT_EQ(cluster.highest_tier(gpu(0, 3), gpu(255, 3)), LinkTier::aggregation);
    EXPECT_EQ(cluster.highest_tier(gpu(0, 3), gpu(256, 3)), LinkTier::core);
}

}  // namespace
}  // namespace rehearse

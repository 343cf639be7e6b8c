#include "topology/shape.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/topology/fabrics.hpp"

namespace rehearse {
namespace {

// Whole ToR sets of 64 hosts: 12,288 GPUs = 1,536 hosts = 24 sets; one GPU more takes a 25th set. Tree k = 8: 128
// hosts.
TEST(Shape, HostsNeeded) {
    EXPECT_EQ(hosts_needed({}, 12288), 1536);
    EXPECT_EQ(hosts_needed({}, 12289), 1600);
    EXPECT_EQ(hosts_needed({}, 1), 64);
    EXPECT_EQ(hosts_needed(testing::fat_tree(8), 5), 128);
    ClusterSpec unsplit;
    unsplit.fabric.port_split = false;
    EXPECT_EQ(hosts_needed(unsplit, 1), 32);
    EXPECT_THROW(hosts_needed({}, 0), InputError);
}

TEST(Shape, FatTreeMayHaveFewerPods) {
    ClusterSpec spec = testing::fat_tree(16);
    spec.fabric.fat_tree_pods = 4;
    const FabricShape shape = shape_of(spec);
    EXPECT_EQ(shape.hosts, 256u);  // 8 x 8 x 4
    EXPECT_EQ(shape.core_count(), 64u);
}

// The clos that a fat tree is: same counts.
TEST(Shape, FatTreeAsClos) {
    for (std::int64_t k : {4, 8, 16}) {
        const FabricShape tree = shape_of(testing::fat_tree(k)), twin = shape_of(testing::fat_tree_with_ecmp(k));
        EXPECT_EQ(tree.hosts, twin.hosts);
        EXPECT_EQ(tree.tor_count(), twin.tor_count());
        EXPECT_EQ(tree.aggregation_count(), twin.aggregation_count());
        EXPECT_EQ(tree.core_count(), twin.core_count());
        EXPECT_EQ(tree.links_per_core, twin.links_per_core);
    }
}

// A pod of one ToR set has 8 ToRs: 4 links from each to 8 aggregation switches fill 32 ports down.
TEST(Shape, SmallPodsUseParallelLinks) {
    ClusterSpec spec = testing::clos(512);
    spec.fabric.tor_sets_per_pod = 1;
    const FabricShape shape = shape_of(spec);
    EXPECT_EQ(shape.links_per_tor, 4u);
    EXPECT_EQ(shape.aggregations_per_group, 8u);
    EXPECT_EQ(shape.aggregation_up_links, 32u);
    EXPECT_EQ(shape.pods, 8u);
    EXPECT_EQ(shape.cores_per_plane, 4u);  // 8 x 32 / 4 = 64
}

TEST(Shape, FaultsNameTheKey) {
    using Change = std::function<void(ClusterSpec&)>;
    const std::pair<const char*, Change> cases[] = {
        {"cluster.node.gpus", [](ClusterSpec& s) { s.node.gpus = 0; }},
        {"cluster.node.nics", [](ClusterSpec& s) { s.node.nics = 3; }},
        {"cluster.node.nic", [](ClusterSpec& s) { s.node.nic = gigabits_per_second(400); }},
        {"cluster.node.pcie", [](ClusterSpec& s) { s.node.pcie = Bandwidth{-1}; }},
        {"cluster.fabric.rails", [](ClusterSpec& s) { s.fabric.rails = 3; }},
        {"cluster.fabric.tiers", [](ClusterSpec& s) { s.fabric.tiers = 4; }},
        {"cluster.fabric.hosts_per_tor_set", [](ClusterSpec& s) { s.fabric.hosts_per_tor_set = 65; }},
        {"cluster.fabric.tor_sets_per_pod", [](ClusterSpec& s) { s.fabric.tor_sets_per_pod = 5; }},
        {"cluster.fabric.oversubscription", [](ClusterSpec& s) { s.fabric.oversubscription = Ratio{0.0}; }},
        {"cluster.fabric.switch_latency", [](ClusterSpec& s) { s.fabric.switch_latency = SimDuration{-1}; }},
        {"cluster.hosts", [](ClusterSpec& s) { s.hosts = 64 * 256 + 1; }},  // 65 pods on 64-port cores
        {"cluster.hosts", [](ClusterSpec& s) { s.hosts = -1; }},
    };
    for (const auto& [key, change] : cases) {
        ClusterSpec spec = testing::clos(64);
        change(spec);
        const std::vector<Fault> faults = validate_cluster(spec);
        ASSERT_EQ(faults.size(), 1u) << key;
        EXPECT_EQ(faults[0].path, key);
        EXPECT_THROW(shape_of(spec), InputError);
    }
    EXPECT_TRUE(validate_cluster({}).empty());
    EXPECT_THROW(shape_of({}), InputError);  // no hosts
    EXPECT_EQ(shape_of(testing::clos(64 * 256)).pods, 64u);
}

TEST(Shape, AllFaultsAtOnce) {
    ClusterSpec spec = testing::clos(64);
    spec.node.gpus = 0;
    spec.fabric.tiers = 7;
    spec.fabric.link_latency = SimDuration{-5};
    EXPECT_EQ(validate_cluster(spec).size(), 3u);
}

}  // namespace
}  // namespace rehearse

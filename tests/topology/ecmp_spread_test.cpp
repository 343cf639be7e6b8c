// How evenly hashed flows load equal links, measured through the routes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/topology/fabrics.hpp"
#include "topology/router.hpp"

namespace rehearse {
namespace {

struct Spread {
    double carried = 0;        // sum of min(load, link rate) / sum of loads
    double max_over_mean = 0;  // flows on the fullest link / flows per link
};

// `flows` flows from the hosts of the first ToR set, all on rail 0, to distinct hosts of other sets; each host takes
// its share in queue pairs. Flow rate = NIC rate. Mean over the seeds 0 .. seeds - 1.
Spread mean_spread(const Cluster& cluster, EcmpSpec ecmp, std::uint32_t flows, std::uint32_t seeds) {
    const FabricShape& shape = cluster.shape();
    const std::uint32_t hosts = shape.hosts_per_tor_set;
    const double flow_rate = static_cast<double>(cluster.spec().node.nic.value);
    const double link_rate = static_cast<double>(cluster.spec().fabric.switch_port_rate.value);
    const std::uint32_t first_up = cluster.out_links(cluster.tor_vertex(0)).back().value + 1 - shape.tor_up_links;
    Spread mean;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        const Router router(cluster, ecmp, seed);
        std::vector<std::uint32_t> load(shape.tor_up_links);
        for (std::uint32_t i = 0; i < flows; ++i) {
            const std::uint32_t host = i % hosts;
            const Path path = router.route({GpuId{host * 8}, GpuId{(host + hosts) * 8}, i / hosts});
            load.at(path.links()[2].value - first_up) += 1;
        }
        double carried = 0;
        for (std::uint32_t n : load) carried += std::min(n * flow_rate, link_rate);
        mean.carried += carried / (flows * flow_rate) / seeds;
        mean.max_over_mean += *std::max_element(load.begin(), load.end()) * double(shape.tor_up_links) / flows / seeds;
    }
    return mean;
}

constexpr HashFunction every_hash[] = {HashFunction::crc16, HashFunction::crc32, HashFunction::xor_fold,
                                       HashFunction::jenkins};

// 64 NICs of 200G on 32 up-links of 400G: a link carries min(X, 2) of X ~ Bin(64, 1/32) flows, so
// E[min(X, 2)] / 2 = (2 - 2 P(0) - P(1)) / 2 = 73.4 % of the load is carried.
TEST(EcmpSpread, SplitPortsCarry73Percent) {
    const Cluster cluster = build_cluster(testing::clos(128));
    for (HashFunction hash : every_hash)
        EXPECT_NEAR(mean_spread(cluster, {.hash = hash}, 64, 2000).carried, 0.734, 0.005) << name(hash);
}

// 32 NICs of 400G on 32 up-links of 400G: a link carries one flow or none: 1 - (31/32)^32 = 63.8 %.
TEST(EcmpSpread, WholePortsCarry64Percent) {
    ClusterSpec spec = testing::clos(64);
    spec.fabric.port_split = false;
    spec.node.nic = gigabits_per_second(400);
    const Cluster cluster = build_cluster(spec);
    for (HashFunction hash : every_hash)
        EXPECT_NEAR(mean_spread(cluster, {.hash = hash}, 32, 2000).carried, 0.638, 0.005) << name(hash);
}

// Balls in bins: the fullest of 16 links with 1,000 flows has 1.23 times the mean (2:1 at the ToR gives 16 up-links).
TEST(EcmpSpread, ThousandFlowsOnSixteenLinks) {
    ClusterSpec spec = testing::clos(128);
    spec.fabric.oversubscription = Ratio{2.0};
    const Cluster cluster = build_cluster(spec);
    ASSERT_EQ(cluster.shape().tor_up_links, 16u);
    for (HashFunction hash : {HashFunction::crc32, HashFunction::jenkins})
        EXPECT_NEAR(mean_spread(cluster, {.hash = hash}, 1000, 3000).max_over_mean, 1.23, 0.02) << name(hash);
}

// Eight flows on eight links: 2.60.
TEST(EcmpSpread, EightFlowsOnEightLinks) {
    ClusterSpec spec = testing::clos(128);
    spec.fabric.oversubscription = Ratio{4.0};
    const Cluster cluster = build_cluster(spec);
    ASSERT_EQ(cluster.shape().tor_up_links, 8u);
    for (HashFunction hash : every_hash)
        EXPECT_NEAR(mean_spread(cluster, {.hash = hash}, 8, 6000).max_over_mean, 2.60, 0.05) << name(hash);
}

}  // namespace
}  // namespace rehearse

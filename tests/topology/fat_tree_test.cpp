#include <gtest/gtest.h>

#include <numeric>

#include "sim/base/rng.hpp"
#include "tests/topology/fabrics.hpp"
#include "topology/router.hpp"

namespace rehearse {
namespace {

// Sattolo's cycle over splitmix64(seed): for i = n-1 .. 1: j = next mod i, swap.
std::vector<std::uint32_t> permutation(std::uint32_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> p(n);
    std::iota(p.begin(), p.end(), 0u);
    for (std::uint32_t i = n - 1; i > 0; --i) std::swap(p[i], p[splitmix64(seed) % i]);
    return p;
}

// A path has 2, 4 or 6 links: same edge switch, same pod, else. The sums over the permutation do not depend on routing
// and are those that htsim and ns-3 agree on for k = 8.
TEST(FatTree, LinksOfAPermutation) {
    const std::pair<std::int64_t, std::size_t> cases[] = {{8, 730}, {16, 6010}, {32, 48644}};
    for (const auto& [k, expected] : cases) {
        const Cluster cluster = build_cluster(testing::fat_tree(k));
        const Router router(cluster, {}, 1);
        const auto to = permutation(cluster.gpu_count(), 1);
        std::size_t sum = 0;
        for (std::uint32_t host = 0; host < cluster.gpu_count(); ++host) {
            const Path path = router.route({GpuId{host}, GpuId{to[host]}});
            sum += path.links().size();
        }
        EXPECT_EQ(sum, expected) << "k = " << k;
        EXPECT_EQ(cluster.links().size(), 6u * cluster.gpu_count());
    }
}

TEST(FatTree, PermutationIsThePublishedOne) {
    const auto p = permutation(128, 1);
    EXPECT_EQ(p[0], 41u);
    EXPECT_EQ(p[1], 25u);
}

// D-mod-k with half = k/2: the edge switch takes port dst mod half, the aggregation switch port (dst div half) mod
// half; and the way down is fixed. Latency = links x 500 ns.
TEST(FatTree, DModK) {
    const std::uint32_t half = 4;
    const Cluster cluster = build_cluster(testing::fat_tree(8));
    const Router router(cluster, {.hash = HashFunction::crc32}, 99);  // a fat tree ignores the hash
    for (std::uint32_t s = 0; s < 128; ++s)
        for (std::uint32_t d = 0; d < 128; ++d) {
            const Path path = router.route({GpuId{s}, GpuId{d}});
            const auto links = path.links();
            if (links.size() < 4) continue;
            const Vertex& aggregation = cluster.vertex(cluster.link(links[1]).to);
            EXPECT_EQ(aggregation.index, d % half);
            EXPECT_EQ(aggregation.pod, s / (half * half));
            if (links.size() == 4) continue;
            const Vertex& core = cluster.vertex(cluster.link(links[2]).to);
            EXPECT_EQ(core.group, d % half);
            EXPECT_EQ(core.index, d / half % half);
            SimDuration latency;
            for (LinkId id : links) latency += cluster.link(id).latency;
            EXPECT_EQ(latency, nanoseconds(3000));
        }
}

}  // namespace
}  // namespace rehearse

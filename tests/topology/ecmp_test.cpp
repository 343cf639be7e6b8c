#include "topology/ecmp_hash.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "sim/base/rng.hpp"
#include "tests/topology/fabrics.hpp"
#include "topology/router.hpp"

namespace rehearse {
namespace {

HashKey random_key(std::uint64_t& state) {
    const std::uint64_t a = splitmix64(state), b = splitmix64(state);
    return {.source_address = static_cast<std::uint32_t>(a),
            .destination_address = static_cast<std::uint32_t>(a >> 32),
            .source_port = static_cast<std::uint16_t>(b)};
}

std::vector<std::uint8_t> header(const HashKey& k) {
    std::vector<std::uint8_t> bytes;
    const auto push = [&](std::uint32_t word, int octets) {
        while (octets-- > 0) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * octets)));
    };
    push(k.source_address, 4), push(k.destination_address, 4), push(k.protocol, 1);
    push(k.source_port, 2), push(k.destination_port, 2);
    return bytes;
}

// Long division by the polynomial, one bit at a time.
TEST(EcmpHash, CrcIsPolynomialDivision) {
    std::uint64_t state = 1;
    for (int i = 0; i < 100; ++i) {
        const HashKey key = random_key(state);
        const auto seed = static_cast<std::uint32_t>(splitmix64(state));
        std::uint32_t crc16 = seed & 0xFFFF, crc32 = seed;
        for (std::uint8_t octet : header(key))
            for (int bit = 0; bit < 8; ++bit) {
                const bool top = (((octet >> (7 - bit)) ^ (crc16 >> 15)) & 1) != 0;
                crc16 = ((crc16 << 1) & 0xFFFF) ^ (top ? 0x1021u : 0u);
                const bool low = (((octet >> bit) ^ crc32) & 1) != 0;
                crc32 = (crc32 >> 1) ^ (low ? 0xEDB88320u : 0u);
            }
        EXPECT_EQ(ecmp_hash(HashFunction::crc16, key, seed), crc16);
        EXPECT_EQ(ecmp_hash(HashFunction::crc32, key, seed), crc32);
    }
}

// Linear in the seed: h(key, seed) xor h(key, 0) is one constant for all keys. Jenkins is not.
TEST(EcmpHash, SeedsOfLinearHashesXorAConstant) {
    const auto distinct = [](HashFunction function) {
        std::uint64_t state = 9;
        std::set<std::uint32_t> differences;
        for (int i = 0; i < 200; ++i) {
            const HashKey key = random_key(state);
            differences.insert(ecmp_hash(function, key, 0x1234ABCD) ^ ecmp_hash(function, key, 0));
        }
        return differences.size();
    };
    EXPECT_EQ(distinct(HashFunction::crc16), 1u);
    EXPECT_EQ(distinct(HashFunction::crc32), 1u);
    EXPECT_EQ(distinct(HashFunction::xor_fold), 1u);
    EXPECT_EQ(distinct(HashFunction::jenkins), 200u);
}

// Avalanche: flipping one bit of an address flips each bit of the value in half of all keys (4,000 keys: sigma 0.8 %).
TEST(EcmpHash, JenkinsAvalanches) {
    for (int input = 0; input < 32; ++input) {
        std::uint64_t state = 17;
        int flips[32] = {};
        for (int i = 0; i < 4000; ++i) {
            HashKey key = random_key(state);
            const std::uint32_t before = ecmp_hash(HashFunction::jenkins, key, 7);
            key.destination_address ^= 1u << input;
            const std::uint32_t changed = before ^ ecmp_hash(HashFunction::jenkins, key, 7);
            for (int bit = 0; bit < 32; ++bit) flips[bit] += (changed >> bit) & 1;
        }
        for (int bit = 0; bit < 32; ++bit) EXPECT_NEAR(flips[bit] / 4000.0, 0.5, 0.045) << input << " -> " << bit;
    }
}

// Share of the core links of an aggregation switch that traffic between two pods uses, mean over the 32 switches of the
// first pod: 2,048 NICs with 16 queue pairs each, so about 1,024 flows meet at a switch.
double core_links_used(const Cluster& cluster, EcmpSpec ecmp) {
    const Router router(cluster, ecmp, 42);
    std::map<VertexId, std::set<LinkId>> used;
    for (std::uint32_t gpu = 0; gpu < 2048; ++gpu)
        for (std::uint32_t pair = 0; pair < 16; ++pair) {
            const Path path = router.route({GpuId{gpu}, GpuId{gpu + 2048}, pair});
            const Link& up = cluster.link(path.links()[3]);
            EXPECT_EQ(up.tier, LinkTier::core);
            used[up.from].insert(path.links()[3]);
        }
    double sum = 0;
    for (const auto& [at, links] : used) sum += static_cast<double>(links.size()) / 32.0;
    return sum / 32.0;
}

// ToR and aggregation switch both choose among 32 links. With one function, one seed and one window, the choice of the
// aggregation switch repeats that of the ToR: one of 32 links. A new seed per tier for a linear hash moves the link, no
// more. A seed per switch moves it once per ToR: 32 ToRs then hit 1 - (31/32)^32 = 64 % of the links, still one link
// per pair of switches. A non-linear hash with its own seed per switch, or another window of the bits, uses them all.
TEST(EcmpPolarisation, SeedsDoNotCureLinearHashes) {
    const Cluster cluster = build_cluster(testing::clos(512));
    ASSERT_EQ(cluster.shape().aggregation_up_links, 32u);
    const auto used = [&](HashFunction hash, HashSeedScope scope, HashWindow window) {
        return core_links_used(cluster, {.hash = hash, .seed_scope = scope, .window = window});
    };
    for (HashFunction hash : {HashFunction::crc16, HashFunction::crc32, HashFunction::xor_fold})
        for (HashSeedScope scope : {HashSeedScope::per_fabric, HashSeedScope::per_role})
            EXPECT_DOUBLE_EQ(used(hash, scope, HashWindow::fixed), 1.0 / 32) << name(hash) << " " << name(scope);
    EXPECT_DOUBLE_EQ(used(HashFunction::jenkins, HashSeedScope::per_fabric, HashWindow::fixed), 1.0 / 32);
    for (HashFunction hash : {HashFunction::crc16, HashFunction::crc32, HashFunction::xor_fold}) {
        const double share = used(hash, HashSeedScope::per_switch, HashWindow::fixed);
        EXPECT_GT(share, 0.4) << name(hash);
        EXPECT_LT(share, 0.85) << name(hash);
    }
    EXPECT_GT(used(HashFunction::jenkins, HashSeedScope::per_role, HashWindow::fixed), 0.99);
    EXPECT_GT(used(HashFunction::jenkins, HashSeedScope::per_switch, HashWindow::fixed), 0.99);
    EXPECT_GT(used(HashFunction::crc32, HashSeedScope::per_fabric, HashWindow::per_tier), 0.99);
    EXPECT_GT(used(HashFunction::crc16, HashSeedScope::per_fabric, HashWindow::per_tier), 0.99);
}

}  // namespace
}  // namespace rehearse

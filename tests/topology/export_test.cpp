#include "topology/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/topology/fabrics.hpp"

namespace rehearse {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
    return n;
}

// 12,288 NICs on split ports: 6,144 cables with 6,144 + 12,288 ends; 6,144 fibres to aggregation and 6,144 to core with
// two transceivers each. One way: 12,288 x 200G = 6,144 x 400G = 2,457.6 Tb/s at each tier of the fabric.
TEST(Export, CablesAndOptics) {
    const auto tiers = summarize_tiers(build_cluster(testing::clos(1536)));
    ASSERT_EQ(tiers.size(), 5u);
    EXPECT_EQ(tiers[2].tier, LinkTier::host);
    EXPECT_EQ(tiers[2].links, 12288);
    EXPECT_EQ(tiers[2].cables, 6144);
    EXPECT_EQ(tiers[2].optics, 18432);
    for (std::size_t tier : {3u, 4u}) {
        EXPECT_EQ(tiers[tier].cables, 6144);
        EXPECT_EQ(tiers[tier].optics, 12288);
    }
    for (std::size_t tier : {2u, 3u, 4u}) EXPECT_DOUBLE_EQ(tiers[tier].capacity_bits_per_second, 2457.6e12);
    EXPECT_EQ(tiers[0].cables, 0);
}

TEST(Export, TableShowsCountsTiersAndChecks) {
    const std::string table = fabric_table(build_cluster(testing::clos(1536)));
    for (const char* part : {"fabric clos", "12288", "32 planes x 4, 8 links", "2457.6", "aggregation 1:1", "ok"})
        EXPECT_THAT(table, ::testing::HasSubstr(part));
    EXPECT_THAT(table, ::testing::Not(::testing::HasSubstr("FAIL")));
}

// Every vertex and every one-way link appears once.
TEST(Export, DotAndGraphml) {
    for (const auto& [label, spec] : testing::small_fabrics()) {
        SCOPED_TRACE(label);
        const Cluster cluster = build_cluster(spec);
        std::ostringstream dot, graphml;
        write_dot(dot, cluster);
        write_graphml(graphml, cluster);
        EXPECT_EQ(count(dot.str(), "label="), cluster.vertices().size());
        EXPECT_EQ(count(dot.str(), "->"), cluster.links().size());
        EXPECT_EQ(count(graphml.str(), "<node "), cluster.vertices().size());
        EXPECT_EQ(count(graphml.str(), "<edge "), cluster.links().size());
    }
    std::ostringstream graphml;
    write_graphml(graphml, build_cluster(testing::clos(1)));
    EXPECT_THAT(graphml.str(), ::testing::HasSubstr(">node0.gpu7<"));
    EXPECT_THAT(graphml.str(), ::testing::HasSubstr(">400000000000<"));
}

}  // namespace
}  // namespace rehearse

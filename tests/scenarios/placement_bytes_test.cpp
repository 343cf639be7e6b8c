// What a placement costs the fabric, as the summary reports it: bytes per tier under each policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

// 16 hosts of 32; a pod is 2 sets x 4 hosts. t = 8 fills a host, d = 8 hosts is one data group: it fits into a pod.
const std::string two_pods = R"(name: two pods
cluster:
  hosts: 32
  fabric: {hosts_per_tor_set: 4, tor_sets_per_pod: 2}
job: {gpus: 128, rank_order: [tensor, data, pipeline]}
training:
  model: {kind: gpt, layers: 16, hidden: 2048, heads: 16, vocab: 8000, sequence: 512}
  batch_global: 64
  micro_batch: 2
  parallel: {tensor: 8, pipeline: 2, data: 8}
)";

using Tiers = std::vector<std::pair<std::string, double>>;  // in the order of the summary

// "network, bytes per tier:  pcie 54.1 GB  host 55.2 GB  ..."
Tiers tiers_of_summary(const std::string& summary) {
    const std::string title = "network, bytes per tier:";
    const std::size_t at = summary.find(title);
    if (at == summary.npos) return {};
    std::istringstream words(summary.substr(at + title.size(), summary.find('\n', at) - at - title.size()));
    const std::map<std::string, double> units{{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
    Tiers tiers;
    std::string tier, unit;
    double value = 0;
    while (words >> tier >> value >> unit) tiers.emplace_back(tier, value * units.at(unit));
    return tiers;
}

class PlacementBytes : public ::testing::Test {
protected:
    PlacementBytes() { folder_.file("job.yaml", two_pods); }
    Tiers run(const std::string& policy) const {
        const ProgramResult result =
            run_rehearse({"run", "job.yaml", "--set", "job.placement=" + policy, "--out", policy}, folder_.path());
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return tiers_of_summary(result.out);
    }
    TemporaryFolder folder_;
};

// A byte that climbs to a tier has crossed those below it, and three digits are shown.
TEST_F(PlacementBytes, TheSummaryNamesEveryTierWithTheBytesOfTheMetrics) {
    for (const std::string policy : {"packed", "rail_aligned", "spread", "random", "topology_aware"}) {
        const Tiers tiers = run(policy);
        ASSERT_EQ(tiers.size(), 4U) << policy;
        const auto json = nlohmann::json::parse(slurp(folder_.path() / policy / "metrics.json"));
        const char* names[] = {"pcie", "host", "aggregation", "core"};
        for (std::size_t i = 0; i < tiers.size(); ++i) {
            EXPECT_EQ(tiers[i].first, names[i]) << policy;
            const double exact = json["network"]["bytes_per_tier"][names[i]];
            EXPECT_NEAR(tiers[i].second, exact, 0.005 * exact) << policy << " " << names[i];
            EXPECT_GT(exact, 0) << policy << " " << names[i];
        }
        EXPECT_GE(tiers[1].second, tiers[2].second) << policy;
        EXPECT_GE(tiers[2].second, tiers[3].second) << policy;
    }
}

// packed: stage s in pod s, so that only the pipeline and the embedding cross the core; rail_aligned is packed, because
// a block fills a host. spread and random tear the data groups over pods. Every policy loads the NICs alike.
TEST_F(PlacementBytes, PackedAndTopologyAwareKeepBytesOffTheCore) {
    const Tiers packed = run("packed"), rail_aligned = run("rail_aligned"), spread = run("spread");
    const Tiers random = run("random"), topology_aware = run("topology_aware");
    EXPECT_EQ(packed, rail_aligned);
    EXPECT_LE(topology_aware[3].second, packed[3].second);
    EXPECT_LT(5 * packed[3].second, spread[3].second);
    EXPECT_LT(5 * packed[3].second, random[3].second);
    for (const Tiers& tiers : {spread, random, topology_aware}) EXPECT_EQ(tiers[1], packed[1]);
}

}  // namespace
}  // namespace rehearse

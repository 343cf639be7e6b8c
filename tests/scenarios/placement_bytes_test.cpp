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

struct Tiers {
    std::vector<std::string> names;  // in the order of the summary
    std::map<std::string, double> bytes;
    double at(const std::string& tier) const { return bytes.at(tier); }
};

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
    while (words >> tier >> value >> unit) {
        tiers.names.push_back(tier);
        tiers.bytes[tier] = value * units.at(unit);
    }
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
        const auto json = nlohmann::json::parse(slurp(folder_.path() / policy / "metrics.json"));
        ASSERT_GE(tiers.names.size(), 4U) << policy;
        const std::vector<std::string> climb(tiers.names.end() - 4, tiers.names.end());
        EXPECT_EQ(climb, (std::vector<std::string>{"pcie", "host", "aggregation", "core"})) << policy;
        for (const auto& [tier, bytes] : tiers.bytes) {
            const double exact = json["network"]["bytes_per_tier"][tier];
            EXPECT_NEAR(bytes, exact, 0.005 * exact) << policy << " " << tier;
            EXPECT_GT(exact, 0) << policy << " " << tier;
        }
        EXPECT_GE(tiers.at("host"), tiers.at("aggregation")) << policy;
        EXPECT_GE(tiers.at("aggregation"), tiers.at("core")) << policy;
    }
}

// packed: stage s in pod s, so that only the pipeline and the embedding cross the core; rail_aligned is packed, because
// a block fills a host. spread and random tear the data groups over pods. Every policy loads the NICs alike.
TEST_F(PlacementBytes, PackedAndTopologyAwareKeepBytesOffTheCore) {
    const Tiers packed = run("packed"), rail_aligned = run("rail_aligned"), spread = run("spread");
    const Tiers random = run("random"), topology_aware = run("topology_aware");
    EXPECT_EQ(packed.bytes, rail_aligned.bytes);
    EXPECT_LE(topology_aware.at("core"), packed.at("core"));
    EXPECT_LT(5 * packed.at("core"), spread.at("core"));
    EXPECT_LT(5 * packed.at("core"), random.at("core"));
    for (const Tiers& tiers : {spread, random, topology_aware}) EXPECT_EQ(tiers.at("host"), packed.at("host"));
}

}  // namespace
}  // namespace rehearse

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

// "... cross:  nvlink 4.354e+12  host 1.114e+11  ..."
std::map<std::string, double> placed_bytes(const std::string& out) {
    const std::string title = "highest tier they cross:";
    std::istringstream words(out.substr(out.find(title) + title.size()));
    std::map<std::string, double> bytes;
    std::string tier;
    for (double value = 0; words >> tier >> value;) bytes[tier] = value;
    return bytes;
}

// Hosts with several members of a group: rings of many channels, context exchange, interleaved pipelines. NVLink and
// PCIe carry no headers, and a byte crosses two links of each tier that it climbs to; four digits are printed.
TEST_F(PlacementBytes, PlaceCountsTheBytesThatTheRunSends) {
    const std::vector<std::vector<std::string>> variants = {
        {"job.placement=packed", "training.parallel.data=32"},
        {"job.placement=random", "training.parallel.data=32", "job.rank_order=[tensor, pipeline, data]"},
        {"job.placement=spread", "training.parallel.data=32", "training.parallel.virtual=4",
         "training.batch_global=128"},
        {"job.placement=topology_aware", "training.parallel.data=16", "training.parallel.context=2"}};
    for (const std::vector<std::string>& variant : variants) {
        std::vector<std::string> words{"place", "job.yaml", "--set", "training.parallel.tensor=2"};
        for (const std::string& key : variant) words.insert(words.end(), {"--set", key});
        const ProgramResult place = run_rehearse(words, folder_.path());
        ASSERT_EQ(place.exit_code, 0) << place.err;
        words.front() = "run";
        words.insert(words.end(), {"--out", "run"});
        ASSERT_EQ(run_rehearse(words, folder_.path()).exit_code, 0);
        const auto sent = nlohmann::json::parse(slurp(folder_.path() / "run" / "metrics.json"))["network"];
        std::map<std::string, double> placed = placed_bytes(place.out);
        const double fabric = placed["host"] + placed["aggregation"] + placed["core"];
        const auto carried = [&](const std::string& tier) { return sent["bytes_per_tier"][tier].get<double>(); };
        EXPECT_NEAR(carried("nvlink"), 2 * placed["nvlink"], 1e-3 * carried("nvlink")) << variant[0];
        EXPECT_NEAR(carried("pcie"), 2 * fabric, 1e-3 * carried("pcie")) << variant[0];
        EXPECT_NEAR(carried("core") / carried("host"), placed["core"] / fabric, 1e-3) << variant[0];
        EXPECT_NEAR(carried("aggregation") / carried("host"), 1 - placed["host"] / fabric, 1e-3) << variant[0];
        std::filesystem::remove_all(folder_.path() / "run");
    }
}

}  // namespace
}  // namespace rehearse

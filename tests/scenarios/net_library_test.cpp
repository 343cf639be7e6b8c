// The net scenarios that ship, through the real program, against closed forms and the counts that every packet
// simulator meets on them: a fat tree of 400G links of 500 ns, 4,160 bytes (83.2 ns) a packet, 64 (1.28 ns) an ACK.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/network/study/traffic.hpp"
#include "scenarios/read_scenario.hpp"
#include "scenarios/scenario_yaml.hpp"
#include "sim/config/load_config.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"
#include "topology/router.hpp"

namespace rehearse {
namespace {

using Json = nlohmann::json;

Json net_metrics(const std::string& name, std::vector<std::string> options = {}) {
    const TemporaryFolder folder;
    std::vector<std::string> words{"net", library_path(name), "--out", "out", "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    const ProgramResult result = run_rehearse(words, folder.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(slurp(folder.path() / "out/metrics.json"));
}

void expect_clean(const Json& net) {
    for (const char* key : {"retransmissions", "drops", "losses", "flows_failed", "flows_blocked"})
        EXPECT_EQ(net[key], 0) << key;
}

TEST(NetLibrary, EveryScenarioIsSound) {
    const std::vector<std::string> names = net_library_names();
    ASSERT_GE(names.size(), 11U);
    for (const std::string& name : names) {
        try {
            EXPECT_GE(validate(read_net_scenario(library_path(name))).net().patterns.front().members, 2) << name;
        } catch (const InputError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

// H links: H (500 + 83.2) out, H (500 + 1.28) back, 488 more packets of 83.2 ns. The fluid sends a short last packet of
// 1,152 + 64 bytes: 4,160 - 1,216 bytes less.
TEST(NetLibrary, OneFlowMeetsTheClosedForm) {
    for (const int links : {2, 4, 6}) {
        const std::string name = "net_one_flow_" + std::to_string(links);
        const double expected = links * (0.5832 + 0.50128) + 488 * 0.0832;
        const Json net = net_metrics(name)["net"];
        EXPECT_NEAR(net["fct_us"]["max"].get<double>(), expected, 1e-6);
        EXPECT_NEAR(net["slowdown"]["max"].get<double>(), 1, 1e-9);
        EXPECT_EQ(net["data_link_transmissions"], 489 * links);
        expect_clean(net);
        const Json flow = net_metrics(name, {"--fidelity", "flow"})["net"];
        EXPECT_NEAR(flow["fct_us"]["max"].get<double>(), expected - (4160 - 1216) / 50e3, 1e-6);
        EXPECT_NEAR(flow["slowdown"]["max"].get<double>(), 1, 1e-6);
    }
}

TEST(NetLibrary, OnePacketMeetsTheClosedForm) {
    for (const int links : {2, 4, 6}) {
        const std::string name = "net_one_flow_" + std::to_string(links);
        const Json net = net_metrics(name, {"--set", "net.message=4096 B"})["net"];
        EXPECT_NEAR(net["fct_us"]["max"].get<double>(), links * (0.5832 + 0.50128), 1e-6);
    }
}

// Packets x links, summed over the flows: independent of the routes, the same in every simulator.
TEST(NetLibrary, PermutationsCrossTheKnownNumberOfLinks) {
    const Json net = net_metrics("net_permutation_128")["net"];
    EXPECT_EQ(net["data_link_transmissions"], 356'970);
    EXPECT_EQ(net["control_link_transmissions"], 356'970);
    EXPECT_EQ(net["link_transmissions"], 713'940);
    EXPECT_EQ(net["flows"], 128);
    EXPECT_EQ(net["bytes"], 256'000'000);
    expect_clean(net);
    EXPECT_EQ(net_metrics("net_permutation_1024")["net"]["data_link_transmissions"], 2'938'890);
}

TEST(NetLibrary, TheLargestPermutationIsTheGivenOne) {
    const ValidNetScenario scenario = validate(read_net_scenario(library_path("net_permutation_8192")));
    const Cluster cluster = build_cluster(scenario.cluster());
    const Router router(cluster, scenario.network().ecmp, scenario.seed());
    std::size_t links = 0;
    for (const StudyFlow& flow : flows_of(scenario.net().patterns)) {
        const Path path = router.route({flow.source, flow.destination, 0});
        links += path.links().size();
    }
    EXPECT_EQ(489 * links, 23'786'916U);
}

// N x 245 packets x 83.2 ns on the last link, then the path. With 127 senders PFC holds them back.
TEST(NetLibrary, IncastEndsWhenTheLastLinkHasCarriedAll) {
    for (const int senders : {7, 64, 127}) {
        const Json net = net_metrics("net_incast_" + std::to_string(senders))["net"];
        const double link = senders * 245 * 0.0832;
        EXPECT_GT(net["time_end_us"].get<double>(), link) << senders;
        EXPECT_LT(net["time_end_us"].get<double>(), link + 0.003 * link + 3) << senders;
        expect_clean(net);
        if (senders < 127) continue;
        EXPECT_EQ(net["data_link_transmissions"], 177'870);
        EXPECT_NEAR(net["time_end_us"].get<double>(), 2592.9, 0.003 * 2592.9);  // htsim RoCE with PFC
        EXPECT_GT(net["pauses"], 0);
        EXPECT_GT(net["pause_us_total"], 0);
    }
}

// 127 x 25 x 83.2 ns on a host's link is the bound, 264.2 us with the shortest path; spraying comes close to it.
TEST(NetLibrary, SprayedAllToAllComesCloseToTheBound) {
    const Json net = net_metrics("net_alltoall_128")["net"];
    EXPECT_EQ(net["data_link_transmissions"], 2'323'200);
    EXPECT_EQ(net["flows"], 16'256);
    EXPECT_GT(net["time_end_us"].get<double>(), 264.2);
    EXPECT_LT(net["time_end_us"].get<double>(), 283);
    expect_clean(net);
    const Json flow =
        net_metrics("net_alltoall_128", {"--fidelity", "flow"})["net"];  // 127 x (100,000 + 25 x 64) bytes
    EXPECT_NEAR(flow["time_end_us"].get<double>(), 127 * 101'600 / 50e3, 6);
    EXPECT_LT(flow["time_end_us"].get<double>(), net["time_end_us"].get<double>());
}

// 16 GPUs under one ToR of the 512, S = 1 MB: 30 messages of 62,500 bytes (16 packets) over 2 links, each after the one
// before. Wire of a message: 62,500 + 16 x 82 + 16.
TEST(NetLibrary, ARingOfOneTorTakesItsSteps) {
    const Json net = net_metrics("net_allreduce_512", {"--set", "net.members=16", "--set", "net.message=1 MB"})["net"];
    EXPECT_EQ(net["flows"], 16);
    EXPECT_EQ(net["bytes"], 16LL * 30 * 62'500);
    EXPECT_EQ(net["data_link_transmissions"], 16 * 30 * 16 * 2);
    EXPECT_NEAR(net["slowdown"]["max"].get<double>(), 1, 0.001);
    EXPECT_GT(net["time_end_us"].get<double>(), 30 * (62'500 + 16 * 82 + 16) / 50e3);
    expect_clean(net);
}

void collect_keys(const ConfigNode& node, const std::string& path, std::vector<std::string>& keys) {
    if (node.kind == ConfigNode::Kind::scalar) keys.push_back(path);
    for (const ConfigEntry& entry : node.entries)
        collect_keys(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
}

TEST(NetLibrary, EveryKeyIsDocumented) {
    const std::string text = slurp(source_path("scenarios/README.md"));
    const ValidNetScenario scenario = validate(read_net_scenario(library_path("net_incast_7")));
    std::vector<std::string> keys{"net.trace", "net.mix"};
    collect_keys(parse_config(scenario_yaml(scenario.plain()), "resolved.yaml"), "", keys);
    EXPECT_GE(keys.size(), 80U);
    for (const std::string& key : keys) EXPECT_NE(text.find("| `" + key + "` |"), text.npos) << key;
}

}  // namespace
}  // namespace rehearse

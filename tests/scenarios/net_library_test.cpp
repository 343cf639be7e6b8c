// The net scenarios that ship, through the real program, against closed forms and the counts that every packet
// simulator meets on them: a fat tree of 400G links of 500 ns, 4,160 bytes (83.2 ns) a packet, 64 (1.28 ns) an ACK.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/network/study/traffic.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
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

// The figures of one run of a sweep, by its labels.
const Json& run_of(const Json& all, const std::vector<std::string>& labels) {
    for (const Json& run : all["sweep"]["runs"]) {
        if (run["labels"] == Json(labels)) return run;
    }
    ADD_FAILURE() << "no run has these labels";
    return all["sweep"]["runs"][0];
}

double figure(const Json& all, const std::vector<std::string>& labels, const char* key) {
    return run_of(all, labels)[key].get<double>();
}

// One-packet messages: 256 / (256 + 98) with RETH and 256 / (256 + 38) with OEFH; long ones: 4096 / (4096 + 82) and
// 4096 / (4096 + 38). The way there and the last ACK take 0.7 %.
TEST(NetStudies, FramingCostsWhatItsHeadersAre) {
    const Json all = net_metrics("net_framing");
    const auto share = [&](const char* framing, const char* message) {
        return figure(all, {framing, message}, "goodput_gbps") / 400;
    };
    EXPECT_NEAR(share("RoCEv2", "256 B"), 256.0 / 354, 0.008);
    EXPECT_NEAR(share("OEFH + transaction", "256 B"), 256.0 / 294, 0.008);
    EXPECT_NEAR(share("RoCEv2", "32 MiB"), 4096.0 / 4178, 0.008);
    EXPECT_GT(share("OEFH + transaction", "256 B") - share("RoCEv2", "256 B"), 0.13);
    EXPECT_LT(share("OEFH + transaction", "32 MiB") - share("RoCEv2", "32 MiB"), 0.02);
}

// Without LLR a lost last packet costs a timeout of 1.07 s; with it none does, and 1e-4 costs a few percent.
TEST(NetStudies, RetryKeepsLossFromTheTransport) {
    const Json all = net_metrics("net_loss");
    for (const char* traffic : {"all-to-all", "ring"}) {
        for (const char* loss : {"0", "1e-6", "1e-4"}) {
            EXPECT_EQ(figure(all, {traffic, "CBFC + LLR", loss}, "timeouts"), 0);
            EXPECT_EQ(figure(all, {traffic, "CBFC + LLR", loss}, "retransmissions"), 0);
            EXPECT_EQ(figure(all, {traffic, "PFC", loss}, "drops"), 0);
        }
        const std::vector<std::string> clean{traffic, "CBFC + LLR", "0"}, lossy{traffic, "CBFC + LLR", "1e-4"};
        EXPECT_LT(figure(all, lossy, "fct_us_max"), 1.06 * figure(all, clean, "fct_us_max")) << traffic;
        EXPECT_GT(figure(all, {traffic, "PFC", "1e-4"}, "retransmissions"), 0);
    }
}

// T = 4.096 us x 2^n; a flap of 2 s is over at the second T(18) and the first T(20); T(14) gives up after eight.
TEST(NetStudies, TheTimeoutMakesTheFlapLonger) {
    const Json all = net_metrics("net_flap");
    const auto wait = [&](const char* noticed, const char* flap, const char* n) {
        return figure(all, {noticed, flap, n}, "stalled_us_max") / 1e6;
    };
    EXPECT_NEAR(wait("by nobody", "2 s", "18"), 2 * 1.073742, 1e-3);
    EXPECT_NEAR(wait("by nobody", "2 s", "20"), 4.294967, 1e-3);
    EXPECT_NEAR(wait("by nobody", "5 s", "18"), 5 * 1.073742, 1e-3);
    EXPECT_NEAR(wait("by nobody", "5 s", "22"), 17.179869, 1e-3);
    EXPECT_EQ(figure(all, {"by nobody", "2 s", "14"}, "flows_failed"), 8);
    EXPECT_LT(wait("by nobody, adaptive", "2 s", "22"), 2.2);
    EXPECT_NEAR(wait("by software", "5 s", "18"), 1.073742, 1e-3);
    for (const char* n : {"14", "18", "20", "22"}) EXPECT_NEAR(wait("by switch event", "5 s", n), 3e-3, 1e-4);
}

// Victims wait as long as the storm lasts, or as the watchdog takes.
TEST(NetStudies, TheWatchdogEndsTheStormForItsVictims) {
    const Json all = net_metrics("net_pfc_storm");
    const auto slowest = [&](const char* storm) { return figure(all, {storm}, "fct_us_max_of_pattern_2"); };
    EXPECT_GT(slowest("no watchdog"), 50'000);
    EXPECT_GT(slowest("watchdog 10 ms"), 10'000);
    EXPECT_LT(slowest("watchdog 10 ms"), 14'000);
    EXPECT_LT(slowest("watchdog 1 ms"), 1.3 * slowest("none"));
    for (const char* storm : {"none", "no watchdog"}) EXPECT_EQ(figure(all, {storm}, "drops"), 0);
    EXPECT_GT(figure(all, {"watchdog 1 ms"}, "watchdog_discards"), 0);
}

// One seed and one window: a switch sees only flows that its hash sends one way. A CRC's seed does not help, for it is
// linear; another window does.
TEST(NetStudies, EqualHashesPolarise) {
    const Json all = net_metrics("net_polarisation");
    const auto end = [&](const char* seeds, const char* hash) { return figure(all, {seeds, hash}, "time_end_us"); };
    const std::string alike = "one for all, same bits";
    for (const char* hash : {"crc32", "jenkins"})
        EXPECT_GT(end(alike.c_str(), hash), 2 * end("one for all, other bits per tier", hash)) << hash;
    EXPECT_EQ(end(alike.c_str(), "crc32"), end("one per role, same bits", "crc32"));
    EXPECT_GT(end(alike.c_str(), "jenkins"), 2 * end("one per role, same bits", "jenkins"));
}

// 112 MB over one link of 50 GB/s are 2.24 ms and headers. The victim's 4 MB take 84 us alone; PFC triples them.
TEST(NetStudies, CongestionControlSparesTheVictim) {
    const Json all = net_metrics("net_congestion");
    for (const Json& run : all["sweep"]["runs"]) EXPECT_GT(run["fct_us_max"].get<double>(), 2240 * 4178 / 4096.0);
    EXPECT_GT(figure(all, {"none"}, "pauses"), 0);
    EXPECT_GT(figure(all, {"none"}, "fct_us_max_of_pattern_2"), 2 * 84);
    for (const char* law : {"Swift", "HPCC"}) {
        EXPECT_EQ(figure(all, {law}, "pauses"), 0);
        EXPECT_LT(figure(all, {law}, "fct_us_max_of_pattern_2"),
                  0.6 * figure(all, {"none"}, "fct_us_max_of_pattern_2"));
        EXPECT_LT(figure(all, {law}, "queue_peak_bytes"), 0.5 * figure(all, {"none"}, "queue_peak_bytes"));
    }
}

void collect_keys(const ConfigNode& node, const std::string& path, std::vector<std::string>& keys) {
    if (node.kind == ConfigNode::Kind::scalar) keys.push_back(path);
    for (const ConfigEntry& entry : node.entries)
        collect_keys(entry.value, path.empty() ? entry.key : path + "." + entry.key, keys);
}

TEST(NetLibrary, EveryKeyIsDocumented) {
    const std::string text = slurp(source_path("scenarios/README.md"));
    const ValidNetScenario scenario = validate(read_net_scenario(library_path("net_incast_7")));
    std::vector<std::string> keys{"net.trace", "net.mix", "sweep"};
    collect_keys(parse_config(scenario_yaml(scenario.plain()), "resolved.yaml"), "", keys);
    EXPECT_GE(keys.size(), 80U);
    for (const std::string& key : keys) EXPECT_NE(text.find("| `" + key + "` |"), text.npos) << key;
}

}  // namespace
}  // namespace rehearse

// `rehearse net` through the real program: what it writes, what repeats, what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::testing::HasSubstr;

const std::string net_yaml = R"(name: small net
cluster:
  hosts: 16
  fabric: {kind: clos, rails: 1, switch_ports: 4, port_split: off, hosts_per_tor_set: 2, tor_sets_per_pod: 2}
  node: {gpus: 1, nics: 1, nic: 400 Gbps, pcie: 0 GB/s}
net: {pattern: permutation, message: 100 kB}
models:
  network:
    packet:
      ecn: {enabled: on, mark_min: 100 KiB, mark_max: 400 KiB}
      classes: 3
)";

class NetTest : public ::testing::Test {
protected:
    void SetUp() override { folder_.file("net.yaml", net_yaml); }
    ProgramResult program(std::vector<std::string> words) {
        words.insert(words.begin(), "net");
        return run_rehearse(words, folder_.path());
    }
    Json metrics(std::vector<std::string> words, const std::string& out = "out") {
        words.insert(words.end(), {"--out", out, "--quiet"});
        const ProgramResult result = program(words);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(slurp(folder_.path() / out / "metrics.json"));
    }
    std::size_t lines(const std::string& file) {
        const std::string text = slurp(folder_.path() / file);
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    TemporaryFolder folder_;
};

TEST_F(NetTest, WritesTheNamedFilesAndFigures) {
    const Json all = metrics({"net.yaml"});
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "out"))
        names.push_back(entry.path().filename().string());
    EXPECT_THAT(names, ::testing::UnorderedElementsAre("metrics.json", "scenario.resolved.yaml", "flows.csv",
                                                       "links.csv", "series.csv", "summary.txt"));
    const Json& net = all["net"];
    for (const char* key : {"flows", "bytes", "goodput_gbps", "link_transmissions", "retransmissions", "drops",
                            "pause_us_total", "ecn_marks", "data_link_transmissions", "control_link_transmissions",
                            "time_end_us"})
        EXPECT_TRUE(net[key].is_number()) << key;
    for (const char* part : {"p50", "p99", "max"}) {
        EXPECT_GT(net["fct_us"][part].get<double>(), 0) << part;
        EXPECT_GE(net["slowdown"][part].get<double>(), 1) << part;
    }
    EXPECT_EQ(net["flows"], 16);
    EXPECT_EQ(net["bytes"], 1'600'000);
    EXPECT_EQ(lines("out/flows.csv"), 17U);
    const double bits = 16 * 100'000 * 8.0;
    EXPECT_NEAR(net["goodput_gbps"].get<double>(), bits / net["time_end_us"].get<double>() / 1e3, 1e-6);
    std::uint64_t transmissions = 0;
    for (const auto& [tier, count] : all["network"]["link_transmissions_per_tier"].items())
        transmissions += count.get<std::uint64_t>();
    EXPECT_EQ(net["link_transmissions"], transmissions);
    EXPECT_EQ(all["run"]["fidelity"], "packet");
    EXPECT_EQ(all["run"]["job_outcome"], "completed");
}

// The resolved scenario runs to the same fingerprint, at every fidelity and from any folder.
TEST_F(NetTest, TheResolvedScenarioRepeatsTheRun) {
    for (const std::string fidelity : {"packet", "flow", "ideal"}) {
        const Json first = metrics({"net.yaml", "--fidelity", fidelity}, fidelity);
        const Json again = metrics({fidelity + "/scenario.resolved.yaml"}, "again");
        EXPECT_EQ(first["run"]["fingerprint"], again["run"]["fingerprint"]) << fidelity;
        EXPECT_EQ(first["run"]["fidelity"], fidelity);
        EXPECT_EQ(slurp(folder_.path() / fidelity / "flows.csv"), slurp(folder_.path() / "again/flows.csv"));
    }
    EXPECT_NE(metrics({"net.yaml"})["run"]["fingerprint"], metrics({"net.yaml", "--seed", "2"})["run"]["fingerprint"]);
}

// A trace of the permutation's own flows is the permutation.
TEST_F(NetTest, ATraceOfAPatternIsThePattern) {
    const Json pattern = metrics({"net.yaml"}, "pattern");
    std::istringstream flows(slurp(folder_.path() / "pattern/flows.csv"));
    std::string csv = "src,dst,bytes,start_ps\n", line;
    std::getline(flows, line);
    while (std::getline(flows, line)) {
        std::vector<std::string> cells;
        std::istringstream cut(line);
        for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
        csv += cells[1] + "," + cells[2] + "," + cells[3] + ",0\n";
    }
    folder_.file("flows.csv", csv);
    const Json trace = metrics({"net.yaml", "--set", "net.pattern=trace", "--set", "net.trace=flows.csv"}, "trace");
    EXPECT_EQ(trace["run"]["fingerprint"], pattern["run"]["fingerprint"]);
    EXPECT_EQ(metrics({"trace/scenario.resolved.yaml"})["run"]["fingerprint"], pattern["run"]["fingerprint"]);
}

// A mix runs side by side: the flows of both, and neither ends earlier than alone.
TEST_F(NetTest, AMixRunsItsPatternsSideBySide) {
    const auto run = [&](const std::string& mix) {
        return metrics({"net.yaml", "--set", "net={mix: [" + mix + "]}"})["net"];
    };
    const std::string incast = "{pattern: incast, senders: 7, message: 200 kB}";
    const std::string all = "{pattern: all_to_all, group: 4, message: 50 kB, traffic_class: 2, start: 3 us}";
    const Json both = run(incast + ", " + all), alone = run(incast);
    EXPECT_EQ(both["flows"], 7 + 16 * 3);
    EXPECT_EQ(both["bytes"], 7 * 200'000 + 48 * 50'000);
    EXPECT_GE(both["fct_us"]["max"].get<double>(), alone["fct_us"]["max"].get<double>());
}

// A tree moves each member's buffer up once and down once: 2 (n - 1) flows of S bytes. Its chunks overlap: it ends far
// sooner than eight levels of the whole buffer would take.
TEST_F(NetTest, ATreeOverlapsItsChunks) {
    const auto run = [&](const char* chunks) {
        return metrics({"net.yaml", "--set", "net.pattern=tree", "--set", "net.message=1600 kB", "--set",
                        std::string("net.chunks=") + chunks})["net"];
    };
    const Json whole = run("1"), cut = run("16");
    EXPECT_EQ(whole["flows"], 30);
    EXPECT_EQ(whole["bytes"], 30 * 1'600'000);
    EXPECT_EQ(cut["bytes"], 30 * 1'600'000);
    EXPECT_LT(cut["time_end_us"].get<double>(), 0.6 * whole["time_end_us"].get<double>());
    EXPECT_GT(cut["time_end_us"].get<double>(), 2 * 1'600'000 / 50e3);  // the root's children share its link
}

// Queue pairs split every message; the shares add up.
TEST_F(NetTest, QueuePairsShareAFlow) {
    const Json one = metrics({"net.yaml"})["net"];
    const Json four = metrics({"net.yaml", "--set", "models.network.ecmp.qps=4"})["net"];
    EXPECT_EQ(four["flows"], one["flows"]);
    EXPECT_EQ(four["bytes"], one["bytes"]);
    EXPECT_LE(four["fct_us"]["max"].get<double>(), 1.05 * one["fct_us"]["max"].get<double>());
}

TEST_F(NetTest, TheTimeSeriesIsBounded) {
    metrics({"net.yaml", "--set", "net.message=4 MB", "--set", "net.sample_interval=100 ns", "--set",
             "net.sample_count=16"});
    EXPECT_LE(lines("out/series.csv"), 17U);
    EXPECT_GE(lines("out/series.csv"), 8U);
}

// A link that loses everything: the queue pairs give up after their retries, which is a result, not an error.
TEST_F(NetTest, FlowsThatGiveUpAreAResult) {
    const Json all = metrics({"net.yaml", "--set", "models.network.packet.loss.data=1", "--set",
                              "models.network.packet.transport={timeout_exponent: 4, retries: 2}"});
    EXPECT_EQ(all["net"]["flows_failed"], 16);
    EXPECT_EQ(all["net"]["bytes"], 0);
    EXPECT_EQ(all["run"]["job_outcome"], "flows_failed");
}

// A link that dies for longer than anybody takes to notice, and one that comes back sooner.
TEST_F(NetTest, ResultsSayWhatFaultsDid) {
    const auto run = [&](const std::string& end, const std::string& mode) {
        return metrics({"net.yaml", "--set", "net={pattern: incast, senders: 1, stride: 15, message: 4 MB}", "--set",
                        "models.network.packet.transport.timeout_exponent=8", "--set",
                        "models.network.packet.detection.mode=" + mode, "--set",
                        "models.network.packet.faults=[{kind: down, from: pod0.set0.tor0, to: pod0.agg0, begin: 20 us, "
                        "end: " + end + "}, {kind: down, from: pod0.set0.tor0, to: pod0.agg1, begin: 20 us, end: " +
                        end + "}]"});
    };
    const Json noticed = run("2 ms", "asic_local");
    ASSERT_EQ(noticed["faults"].size(), 2U);
    const Json& first = noticed["faults"][0];
    EXPECT_EQ(first["kind"], "down");
    EXPECT_EQ(first["where"], "pod0.set0.tor0 -> pod0.agg0");
    EXPECT_EQ(first["begin_us"], 20);
    EXPECT_EQ(first["end_us"], 2000);
    EXPECT_EQ(first["noticed_after_us"], 10);
    EXPECT_GT(first["frames_lost"].get<int>() + noticed["faults"][1]["frames_lost"].get<int>(), 0);
    EXPECT_THAT(slurp(folder_.path() / "out/summary.txt"), HasSubstr("noticed after 10 us (asic_local)"));
    // No path is left: two timeouts of 1048.576 us pass until the links are back.
    EXPECT_NEAR(noticed["net"]["stalled_us_max"].get<double>(), 2 * 1048.576, 1e-6);
    EXPECT_EQ(noticed["net"]["timeouts"], 2);
    EXPECT_TRUE(run("2 ms", "link_down_software")["faults"][0]["noticed_after_us"].is_null());
    EXPECT_EQ(run("60 ms", "app_timeout")["net"]["flows_failed"], 1);  // eight timeouts
}

// A ring whose member is cut off fails as a whole: its flows wait for the one that gave up, and none is blocked.
TEST_F(NetTest, ARingFailsAsAWhole) {
    const Json all = metrics({"net.yaml", "--set", "net={pattern: ring_all_reduce, message: 4 MB}", "--set",
                              "models.network.packet.transport={timeout_exponent: 4, retries: 2}", "--set",
                              "models.network.packet.faults=[{kind: down, from: node3.gpu0, to: pod0.set1.tor0, "
                              "begin: 10 us}]"});
    EXPECT_EQ(all["net"]["flows_failed"], 16);
    EXPECT_EQ(all["net"]["flows_blocked"], 0);
    EXPECT_EQ(all["run"]["job_outcome"], "flows_failed");
}

const std::string two_axes =
    "sweep={control: {none: [], swift: [models.network.packet.congestion=swift]}, "
    "size: {a: [], b: [net.message=200 kB], c: [net.message=400 kB]}}";

// Every point with every other; each run is the scenario with its keys set.
TEST_F(NetTest, ASweepIsItsRunsSideBySide) {
    const Json all = metrics({"net.yaml", "--set", two_axes}, "sweep");
    const Json& runs = all["sweep"]["runs"];
    ASSERT_EQ(runs.size(), 6U);
    EXPECT_EQ(lines("sweep/sweep.csv"), 7U);
    EXPECT_EQ(runs[4]["labels"], Json({"swift", "b"}));
    const Json alone = metrics({"net.yaml", "--set", "models.network.packet.congestion=swift", "--set",
                                "net.message=200 kB"});
    EXPECT_EQ(runs[4]["fingerprint"], alone["run"]["fingerprint"]);
    EXPECT_EQ(runs[4]["fct_us_max"], alone["net"]["fct_us"]["max"]);
    const Json inside = Json::parse(slurp(folder_.path() / "sweep/variant-05/metrics.json"));
    EXPECT_EQ(inside["run"]["fingerprint"], alone["run"]["fingerprint"]);
    const Json again = metrics({"sweep/scenario.resolved.yaml"}, "again");
    EXPECT_EQ(again["run"]["fingerprint"], all["run"]["fingerprint"]);
    const Json other = metrics({"sweep/variant-05/scenario.resolved.yaml"}, "other");
    EXPECT_EQ(other["run"]["fingerprint"], alone["run"]["fingerprint"]);
}

TEST_F(NetTest, WithoutEffectIsAWarning) {
    const ProgramResult result = program({"net.yaml", "--quiet", "--set", "models.network.packet.dcqcn=connectx"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr("warning: --set models.network.packet.dcqcn: models.network.packet.dcqcn: it has "
                                      "no effect"));
    EXPECT_EQ(program({"net.yaml", "--quiet"}).err, "");
    const ProgramResult fluid = program({"net.yaml", "--quiet", "--fidelity", "flow", "--set",
                                         "models.network.packet.faults=[{kind: dead_switch, switch: pod0.agg0}]"});
    EXPECT_THAT(fluid.err, HasSubstr("warning: --set models.network.packet.faults"));
}

struct BadNet {
    std::string name, set, at, says;
};
void PrintTo(const BadNet& bad, std::ostream* out) { *out << bad.name; }

class BadNetTest : public ::testing::TestWithParam<BadNet> {};

TEST_P(BadNetTest, ExitsWith2AndALocatedMessage) {
    const BadNet& bad = GetParam();
    const TemporaryFolder folder;
    folder.file("net.yaml", net_yaml);
    folder.file("bad.csv", "src,dst,bytes,start_ps\n0,1,1000,0\n0,one,1000,0\n3,3,10,0\n");
    const ProgramResult result = run_rehearse({"net", "net.yaml", "--set", bad.set}, folder.path());
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(bad.at + ": "));
    EXPECT_THAT(result.err, HasSubstr(bad.says));
    EXPECT_FALSE(fs::exists(folder.path() / "results"));
}

const std::string packet = "models.network.packet.";
const BadNet bad_nets[] = {
    {"unknown_pattern", "net.pattern=permutatoin", "net.pattern", "did you mean \"permutation\"?"},
    {"missing_pattern", "net={message: 1 MB}", "net", "what traffic runs"},
    {"unknown_hash", "models.network.ecmp.hash=crc33", "models.network.ecmp.hash", "did you mean \"crc32\"?"},
    {"missing_unit", "net.message=1000", "net.message", "1000"},
    {"marks_out_of_order", packet + "ecn.mark_min=500 KiB", "net.yaml:10:55", "mark_min < mark_max < XOFF"},
    {"marks_above_xoff", packet + "ecn.mark_max=50 MB", packet + "ecn.mark_max", "PFC pauses a lone queue at"},
    {"headroom_larger_than_the_buffer", packet + "pfc.headroom=200 MB", packet + "pfc.headroom", "larger than"},
    {"headrooms_fill_the_buffer", packet + "buffer.pool=200 kB", packet + "pfc.headroom", "fill the buffer"},
    {"no_credit", packet + "cbfc.credit=0 B", packet + "cbfc.credit", "a credit of no bytes"},
    {"zero_credits", "models.network={flow_control: cbfc, packet: {cbfc: {buffer: 1 KiB}}}", packet + "cbfc.buffer",
     "hold no packet"},
    {"marks_equal", packet + "ecn={mark_min: 400 KiB, mark_max: 400 KiB}", packet + "ecn.mark_max", "marking ends at"},
    {"no_marks_for_dcqcn", "models.network={packet: {congestion: dcqcn, ecn: {enabled: off}}}", packet + "congestion",
     "no switch makes any"},
    {"credits_below_the_spacing", "models.network={flow_control: cbfc, packet: {cbfc: {buffer: 8 kB}}}",
     packet + "cbfc.buffer", "the spacing of CF_Updates"},
    {"credits_beyond_the_memory", "models.network={flow_control: cbfc, packet: {buffer: {pool: 100 kB}}}",
     packet + "cbfc.buffer", "no more than its memory"},
    {"all_updates_lost", "models.network={flow_control: cbfc, packet: {cbfc: {update_loss: 1}}}",
     packet + "cbfc.update_loss", "every CF_Update is lost"},
    {"no_time_between_checks", packet + "cbfc.repair=0 ps", packet + "cbfc.repair", "more than 0 ps"},
    {"pfc_under_credits", "models.network={flow_control: cbfc, packet: {pfc: {headroom: 100 kB}}}",
     packet + "pfc.headroom", "PFC is not what holds senders back"},
    {"credits_under_pfc", packet + "cbfc.buffer=1 MB", packet + "cbfc.buffer", "there are no credits"},
    {"replay_buffer_too_small", packet + "llr={enabled: on, replay_buffer: 2 kB}", packet + "llr.replay_buffer",
     "one full packet and the spacing of ACKs"},
    {"never_replays", packet + "llr.replays_max=0", packet + "llr.replays_max", "1 to 255"},
    {"never_resumes", packet + "pfc.resume_offset=50 MB", packet + "pfc.resume_offset", "less than XOFF"},
    {"watchdog_without_restore", packet + "pfc.watchdog_restore=0 ps", packet + "pfc.watchdog_restore", "it strikes"},
    {"window_below_the_ack", packet + "transport={window_packets: 2, ack_every: 4}",
     packet + "transport.window_packets", "ends before the ACK"},
    {"first_timeout_longer",
     packet + "transport={adaptive_retransmission: on, adaptive_base: 1 s, timeout_exponent: 4}",
     packet + "transport.adaptive_base", "longer than the last one"},
    {"many_pfc_classes", packet + "classes=9", packet + "classes", "at most 8"},
    {"unknown_vertex", packet + "faults=[{kind: down, from: node0.gpu0, to: pod0.set0.tro0}]", packet + "faults[0].to",
     "did you mean \"pod0.set0.tor0\"?"},
    {"unknown_cable", packet + "faults=[{kind: slow, from: node0.gpu0, to: pod0.agg0}]", packet + "faults[0].to",
     "no link leads from"},
    {"no_second_cable", packet + "faults=[{kind: down, from: node0.gpu0, to: pod0.set0.tor0, parallel: 1}]",
     packet + "faults[0].parallel", "one of the 1 links"},
    {"no_switch", packet + "faults=[{kind: dead_switch, switch: node0.gpu0}]", packet + "faults[0].switch",
     "is no switch"},
    {"key_of_another_kind", packet + "faults=[{kind: dead_switch, switch: pod0.agg0, data: 0.1}]",
     packet + "faults[0].data", "unknown key"},
    {"ends_before_it_begins", packet + "faults=[{kind: dead_switch, switch: pod0.agg0, begin: 2 ms, end: 1 ms}]",
     packet + "faults[0].end", "begin < end"},
    {"flaps_overlap",
     packet + "faults=[{kind: flap, from: node0.gpu0, to: pod0.set0.tor0, down_for: 2 ms, period: 1 ms, times: 2}]",
     packet + "faults[0].period", "more than down_for"},
    {"no_rate_left", packet + "faults=[{kind: slow, from: node0.gpu0, to: pod0.set0.tor0, rate_share: 0}]",
     packet + "faults[0].rate_share", "a link without a rate"},
    {"storm_without_end", packet + "faults=[{kind: pause_storm, gpu: 1}]", packet + "faults[0].end", "never ends"},
    {"storm_of_nobody", packet + "faults=[{kind: pause_storm, gpu: 16, end: 1 ms}]", packet + "faults[0].gpu",
     "0 to 15"},
    {"storm_of_no_class", packet + "faults=[{kind: pause_storm, gpu: 1, end: 1 ms, traffic_class: 3}]",
     packet + "faults[0].traffic_class", "1 to 2"},
    {"storms_overlap",
     packet + "faults=[{kind: pause_storm, gpu: 1, end: 2 ms}, {kind: pause_storm, gpu: 1, begin: 1 ms, end: 3 ms}]",
     packet + "faults[1].begin", "overlaps another storm"},
    {"storm_without_pfc",
     "models.network={flow_control: cbfc, packet: {faults: [{kind: pause_storm, gpu: 1, end: 1 ms}]}}",
     packet + "faults[0].kind", "nothing is paused"},
    {"unknown_mode", packet + "detection.mode=bfd", packet + "detection.mode", "bfd_software"},
    {"empty_axis", "sweep={size: {}}", "sweep.size", "an axis without points"},
    {"axis_of_text", "sweep={size: large}", "sweep.size", "the value is a single value"},
    {"bad_point", "sweep={size: {a: [], b: [net.mesage=1 kB]}}", "net.mesage", "in run 2 of the sweep (b)"},
    {"group_does_not_divide", "net={pattern: all_to_all, group: 5}", "net.group", "do not divide 16 members"},
    {"too_many_members", "net.members=17", "net.members", "the cluster has 16"},
    {"too_many_senders", "net={pattern: incast, senders: 16}", "net.members", "the cluster has 16"},
    {"no_class", "net.traffic_class=3", "net.traffic_class", "1 to 2"},
    {"in_a_mix", "net={mix: [{pattern: incast}, {pattern: all_to_all, group: 7}]}", "net.mix[1].group", "7"},
    {"no_latency", "cluster.fabric={kind: fat_tree, fat_tree_k: 4, switch_latency: 0 ns, link_latency: 0 ns}",
     "cluster.fabric", "a link without latency"},
    {"no_trace", "net={pattern: trace}", "net.trace", "without a file"},
    {"missing_trace", "net={pattern: trace, trace: none.csv}", "net.trace", "cannot read"},
    {"bad_trace", "net={pattern: trace, trace: bad.csv}", "bad.csv:3:3", "\"one\" is no whole number"},
    {"trace_to_itself", "net={pattern: trace, trace: bad.csv}", "bad.csv:4:1", "a flow to its own source"},
    {"inside_a_node", "cluster.node={gpus: 16, nics: 1, nic: 400 Gbps}", "net", "no packet goes from NIC to NIC"},
    {"unknown_key", "net.mesage=1 MB", "net.mesage", "did you mean \"message\"?"},
};

INSTANTIATE_TEST_SUITE_P(Table, BadNetTest, ::testing::ValuesIn(bad_nets),
                         [](const ::testing::TestParamInfo<BadNet>& row) { return row.param.name; });

}  // namespace
}  // namespace rehearse

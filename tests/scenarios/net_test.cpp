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

// A training step whose traffic goes as packets, whole or in slices, through the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "scenarios/reading/slice_text.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// 32 GPUs in four nodes: tensor 8 fills a node, so that each rank's neighbours in data and pipeline groups are on its
// own rail of other nodes. Nothing shares a NIC but a rank's own transfers.
const std::string job_yaml = R"(name: job
job: {gpus: 32, rank_order: [tensor, data, pipeline]}
training:
  model: {kind: gpt, layers: 4, hidden: 512, heads: 8, vocab: 8192, sequence: 512}
  batch_global: 16
  micro_batch: 2
  parallel: {tensor: 8, pipeline: 2, data: 2, zero: 1}
)";

class PacketRun : public ::testing::Test {
protected:
    PacketRun() { std::ofstream(folder_.path() / "job.yaml") << job_yaml; }

    ProgramResult program(std::vector<std::string> words) const {
        std::vector<std::string> all{"run", "job.yaml", "--quiet"};
        all.insert(all.end(), words.begin(), words.end());
        return run_rehearse(all, folder_.path());
    }
    Json metrics(std::vector<std::string> words) const {
        words.insert(words.end(), {"--out", "out"});
        const ProgramResult result = program(words);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        std::ifstream file(folder_.path() / "out/metrics.json");
        return Json::parse(file, nullptr, false);
    }
    void expect_fault(std::vector<std::string> words, const std::string& text) const {
        const ProgramResult result = program(words);
        EXPECT_EQ(result.exit_code, 2) << result.out;
        EXPECT_THAT(result.err, HasSubstr(text));
    }

    TemporaryFolder folder_;
};

// Uncongested: a transfer ends later by a packet's time per switch and by the ACKs of its neighbours (2 % of the line
// in rings, where data and ACKs share every link); the step by less, as most of it is compute.
TEST_F(PacketRun, AgreesWithFlowsWhereNothingQueues) {
    const Json flow = metrics({"--fidelity", "flow"});
    const Json packet = metrics({"--fidelity", "packet"});
    EXPECT_EQ(packet["packets"]["payload_bytes"], packet["packets"]["payload_bytes_all"]);
    EXPECT_GT(packet["packets"]["transfers"], 100);
    EXPECT_EQ(packet["packets"]["drops"], 0);
    const double flow_s = flow["step_time_s"], packet_s = packet["step_time_s"];
    EXPECT_NEAR(packet_s / flow_s, 1, 0.01);
    EXPECT_NE(packet_s, flow_s);
    for (const char* part : {"pp_exposed", "dp_exposed"}) {
        const double there = flow["breakdown_s"][part], here = packet["breakdown_s"][part];
        EXPECT_NEAR(here, there, 0.03 * there + 2e-6) << part;
    }
    EXPECT_FALSE(flow.contains("packets"));
}

TEST_F(PacketRun, RunsAgainToTheSameFingerprint) {
    const std::vector<std::string> words{"--fidelity", "packet", "--slice", "phase=pp, ranks=0-7"};
    const Json first = metrics(words);
    const ProgramResult again =
        run_rehearse({"run", "out/scenario.resolved.yaml", "--quiet", "--out", "again"}, folder_.path());
    ASSERT_EQ(again.exit_code, 0) << again.err;
    std::ifstream file(folder_.path() / "again/metrics.json");
    const Json second = Json::parse(file);
    EXPECT_EQ(first["run"]["fingerprint"], second["run"]["fingerprint"]);
    EXPECT_EQ(first["packets"], second["packets"]);
    EXPECT_EQ(second["packets"]["slice"], "ranks=0-7|phase=pp");
}

// The kinds add up to the whole, and so do the halves of the time.
TEST_F(PacketRun, SlicesAreParts) {
    const auto payload = [&](const std::string& slice) {
        const Json packets = metrics({"--fidelity", "packet", "--slice", slice})["packets"];
        EXPECT_EQ(packets["slice"], slice);
        return packets["payload_bytes"].get<double>();
    };
    const Json whole = metrics({"--fidelity", "packet"});
    const double all = whole["packets"]["payload_bytes"];
    EXPECT_EQ(payload("phase=pp") + payload("phase=dp") + payload("phase=embedding"), all);
    EXPECT_EQ(payload("ranks=0-31"), all);
    EXPECT_EQ(payload("time=0 ps..1 min"), all);
    EXPECT_LT(payload("ranks=0-0"), all / 4);
}

// As `place` counts them: payload by the highest tier that it crosses, and all but NVLink's leaves a node.
TEST_F(PacketRun, CountsTheBytesThatPlaceCounts) {
    const double all = metrics({"--fidelity", "packet", "--slice", "phase=pp"})["packets"]["payload_bytes_all"];
    const ProgramResult place = run_rehearse({"place", "job.yaml"}, folder_.path());
    ASSERT_EQ(place.exit_code, 0) << place.err;
    const std::string title = "highest tier they cross:";
    std::istringstream words(place.out.substr(place.out.find(title) + title.size()));
    double placed = 0, value = 0;
    for (std::string tier; words >> tier >> value;) placed += tier == "nvlink" ? 0 : value;
    EXPECT_NEAR(all, placed, 1e-3 * placed);
    const ProgramResult whole =
        run_rehearse({"run", "job.yaml", "--fidelity", "packet", "--out", "all"}, folder_.path());
    EXPECT_THAT(whole.out, HasSubstr("B between nodes (100 %)"));
}

TEST_F(PacketRun, PacketKeysAct) {
    const std::vector<std::string> lossy{"--fidelity", "packet", "--slice", "phase=pp", "--set",
                                         "models.network.packet.loss.data=1e-3", "--set",
                                         "models.network.packet.transport.timeout_exponent=4"};
    EXPECT_GT(metrics(lossy)["network"]["retransmissions"], 0);
    expect_fault({"--fidelity", "packet", "--set", "models.network.packet.loss.data=1", "--set",
                  "models.network.packet.transport={timeout_exponent: 4, retries: 2}"},
                 "models.network.packet.transport.retries: a queue pair gave up after 3 timeouts");
    expect_fault({"--fidelity", "packet", "--set", "cluster.fabric.link_latency=0 ps", "--set",
                  "cluster.fabric.switch_latency=0 ps", "--set", "cluster.node.nic_latency=0 ps"},
                 "cluster.fabric.link_latency: a link without latency");
    expect_fault({"--fidelity", "packet", "--set", "models.network.packet.ecn={enabled: on, mark_max: 50 MB}"},
                 "models.network.packet.ecn.mark_max: PFC pauses a lone queue at");
}

TEST_F(PacketRun, BadSlicesAreFaultsAtTheirPlace) {
    const auto expect = [&](const std::string& slice, const std::string& text) {
        expect_fault({"--fidelity", "packet", "--slice", slice}, "models.network.slice: " + text);
    };
    expect("ranks=0-64", "the slice ends at rank 64, the job has 32");
    expect("ranks=7-0", "the ranks end at 0, before 7");
    expect("phase=tp", "collectives of tp are priced in closed form");
    expect("phase=all", "no traffic is called \"all\"");
    expect("time=2 ms..1 ms", "the time ends at 1 ms");
    expect("time=1ms", "\"1ms\" is no span of time");
    expect("rank=0-3", "\"rank\" bounds nothing");
    expect("phase=pp|phase=dp", "phase is bounded twice");
    expect("", "\"\" bounds nothing");
    expect("time=1 min..2 min", "no traffic between nodes lies in time=");
    expect_fault({"--slice", "phase=pp"}, "only packet fidelity takes a slice");
    expect_fault({"--check", "packets"}, "--check");
}

TEST_F(PacketRun, AWholeRunTooLargeIsRefusedWithItsEvents) {
    const ProgramResult result =
        run_rehearse({"run", library_path("dense_512"), "--fidelity", "packet", "--out", "out"}, folder_.path());
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("models.network.slice: the whole run at packet fidelity is about "));
    EXPECT_THAT(result.err, HasSubstr("phase=pp ("));
    EXPECT_THAT(result.err, HasSubstr("ranks=0-"));
}

TEST_F(PacketRun, CheckComparesEachKind) {
    const Json all = metrics({"--check", "packet"});
    const Json& checks = all["packet_check"];
    ASSERT_EQ(checks.size(), 3U);
    EXPECT_EQ(checks[0]["kind"], "pp");
    EXPECT_EQ(checks[1]["kind"], "dp");
    for (const Json& check : checks) {
        const double flow = check["flow_completion_mean_s"], packet = check["packet_completion_mean_s"];
        EXPECT_GT(check["transfers"], 0);
        EXPECT_NEAR(packet / flow, 1, 0.1) << check;
    }
    EXPECT_EQ(all["run"]["fidelity"], "flow");
}

TEST(SliceText, ReadsWhatItWrites) {
    for (const char* text : {"ranks=0-63|phase=dp|time=10 ms..20 ms", "phase=pp", "time=0 ps..1.5 us"}) {
        const auto parsed = parse_slice(text);
        ASSERT_TRUE(std::holds_alternative<SliceSpec>(parsed)) << text;
        EXPECT_EQ(format(std::get<SliceSpec>(parsed)), text);
    }
    const auto spaced = parse_slice(" time = 10ms..20ms , ranks = 5 ");
    ASSERT_TRUE(std::holds_alternative<SliceSpec>(spaced));
    EXPECT_EQ(format(std::get<SliceSpec>(spaced)), "ranks=5-5|time=10 ms..20 ms");
}

}  // namespace
}  // namespace rehearse

// `rehearse live` and `rehearse calibrate run` through the real program. How long anything takes is not tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/calibration/calibration_file.hpp"
#include "kernels/communicator/mpi_ranks.hpp"
#include "runtime/live/live_executor.hpp"
#include "scenarios/calibrate/local_device.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using testing::HasSubstr;

// A tiny model, so that a step takes a few milliseconds on any machine.
constexpr const char* tiny = R"(cluster:
  fabric: {kind: clos, tiers: 2, rails: 2, switch: tomahawk-4}
  node: {gpus: 2, nics: 2, nic: 100 Gbps, nvlink: 100 GB/s}
job: {gpus: 2}
training:
  model: {kind: moe, layers: 2, hidden: 64, heads: 2, vocab: 100, sequence: 32, experts: {routed: 4, top_k: 2, ffn: 48}}
  batch_global: 4
  micro_batch: 1
  gradient_bytes: 4
  parallel: {expert: 2}
  routing: {kind: zipf, exponent: 1}
  technique: {operators: efficient, exchange: direct}
models:
  profile: local-cpu
  network: {fidelity: flow}
)";

class Live : public testing::Test {
protected:
    void SetUp() override {
        if (local_cores() < 2) GTEST_SKIP() << "two ranks need two cores";
        scenario_ = folder_.file("tiny.yaml", tiny);
    }
    ProgramResult live(std::vector<std::string> words) {
        words.insert(words.begin(), {"live", scenario_, "--steps", "3"});
        return run_rehearse(words, folder_.path());
    }
    // "values 0123456789abcdef" of the first line.
    static std::string values(const ProgramResult& result) {
        const std::size_t at = result.out.find("values ");
        return at == result.out.npos ? result.out + result.err : result.out.substr(at, 23);
    }

    TemporaryFolder folder_;
    std::string scenario_;
};

TEST_F(Live, ComputesTheSameOnThreadsAndProcesses) {
    const ProgramResult threads = live({});
    ASSERT_EQ(threads.exit_code, 0) << threads.err;
    EXPECT_EQ(values(live({})), values(threads));
    EXPECT_NE(values(live({"--set", "seed=2"})), values(threads));
    if (!MpiRanks::is_available() || run_command({"mpirun", "--version"}, folder_.path()).exit_code != 0)
        GTEST_SKIP() << "no MPI";
    const ProgramResult processes =
        run_command({"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", REHEARSE_BINARY, "live", scenario_,
                     "--steps", "3", "--mpi"},
                    folder_.path());
    EXPECT_EQ(processes.exit_code, 0) << processes.err;
    EXPECT_EQ(values(processes), values(threads));
}

TEST_F(Live, WritesAResultsFolderInTheSimulatorsFormat) {
    const ProgramResult result = live({"--out", "measured"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::filesystem::path out = folder_.path() / "measured";
    for (const char* file :
         {"metrics.json", "timeline.json.gz", "placement.csv", "phases.csv", "scenario.resolved.yaml"})
        EXPECT_TRUE(std::filesystem::exists(out / file)) << file;
    const auto metrics = nlohmann::json::parse(slurp(out / "metrics.json"));
    double sum = 0;
    for (const auto& [part, seconds] : metrics["breakdown_s"].items()) sum += seconds.get<double>();
    EXPECT_NEAR(sum, metrics["step_time_s"].get<double>(), 1e-9);
    EXPECT_LT(metrics["breakdown_s"]["other"].get<double>(), 0.02 * metrics["step_time_s"].get<double>());
    EXPECT_THAT(slurp(out / "phases.csv"), HasSubstr("experts,"));
}

TEST_F(Live, EveryPolicyRuns) {
    for (const std::vector<std::string>& policy :
         {std::vector<std::string>{"policies.stream.refills=3"},
          std::vector<std::string>{"policies.balancer.active=on", "policies.balancer.spare_slots=1",
                                   "policies.balancer.period=2", "policies.warmup_steps=4"},
          std::vector<std::string>{"policies.pager.active=on", "policies.pager.page=16 KiB",
                                   "policies.pager.resident=0.9", "policies.warmup_steps=4"}}) {
        std::vector<std::string> words;
        for (const std::string& text : policy) words.insert(words.end(), {"--set", text});
        const ProgramResult result = live(words);
        EXPECT_EQ(result.exit_code, 0) << policy.front() << "\n" << result.err;
        EXPECT_THAT(result.out, HasSubstr("experts"));
    }
}

TEST_F(Live, ComparesWithTheCalibrationOfThisMachine) {
    const std::string calibration = (folder_.path() / "here.yaml").string();
    const ProgramResult run =
        run_rehearse({"calibrate", "run", "--quick", "--spread", "1000", "--out", calibration}, folder_.path());
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const CalibrationFile file = read_calibration_file(calibration);
    EXPECT_EQ(file.device.name, local_device_name());
    EXPECT_FALSE(file.fits.empty());
    for (const CalibrationSample& sample : file.samples) {
        if (sample.what.ends_with(" probe")) continue;  // the median pace of the runs
        EXPECT_GE(sample.seconds.size(), 20u) << label_of(sample);
    }
    const ProgramResult result = live({"--compare", "--calibration", calibration});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("predicted ms"));
    for (const char* phase : {"gate", "dispatch", "experts", "combine", "reduction", "step"})
        EXPECT_THAT(result.out, HasSubstr(phase));

    // Of another device: refused, unless told otherwise.
    CalibrationFile other = file;
    other.device.name = "Another processor";
    const std::string elsewhere = folder_.file("elsewhere.yaml", to_yaml(other));
    const ProgramResult refused = live({"--compare", "--calibration", elsewhere});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("Another processor"));
    EXPECT_THAT(refused.err, HasSubstr("--force-device"));
    EXPECT_EQ(live({"--compare", "--calibration", elsewhere, "--force-device"}).exit_code, 0);
}

TEST_F(Live, WhatItCannotTakeIsNamedAtItsKey) {
    const std::pair<const char*, const char*> cases[] = {
        {"training.technique.overlap_operators=on", "training.technique.overlap_operators"},
        {"training.technique.operators=fused", "training.technique.operators"},
        {"training.gradient_bytes=2", "training.gradient_bytes"},
        {"training.recompute=selective", "training.recompute"},
        {"training.model.experts.shared=1", "training.model.experts.shared"},
        {"training.parallel.expert=1", "training.parallel.expert"},
        {"training.model.layers=40", "training.model.hidden"},
        {"policies.calibrator.kind=sign_bias", "policies.calibrator.kind"},
    };
    for (const auto& [change, key] : cases) {
        const ProgramResult result = live({"--set", change});
        EXPECT_EQ(result.exit_code, 2) << change;
        EXPECT_THAT(result.err, HasSubstr(key)) << change;
    }
    const ProgramResult both = live({"--set", "policies.pager.active=on", "--set", "policies.stream.refills=2", "--set",
                                     "policies.pager.page=16 KiB"});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_THAT(both.err, HasSubstr("policies.stream.refills"));
    const ProgramResult none = live({"--compare", "--set", "models.profile=h100-sxm"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("calibrate run"));
    for (const char* broken : {"", "not: a calibration\n", "\x01\x02\x03"}) {
        const std::string path = folder_.file("broken.yaml", broken);
        EXPECT_EQ(live({"--compare", "--calibration", path}).exit_code, 2) << broken;
    }
}

}  // namespace
}  // namespace rehearse

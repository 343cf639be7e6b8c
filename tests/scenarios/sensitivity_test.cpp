// Each change moves the step in its direction, or the reason says from the figures why it does not.
#include "scenarios/sensitivity/sensitivity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/scenarios/program.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// A step of 10 s: compute 8, tp_exposed 2; 100 B on every tier, its busiest link a tenth of the time.
Showing showing() {
    Showing showing;
    showing.metrics.step_time_s = 10;
    showing.metrics.breakdown_s[static_cast<std::size_t>(Part::compute)] = 8;
    showing.metrics.breakdown_s[static_cast<std::size_t>(Part::tp_exposed)] = 2;
    showing.metrics.bytes_per_tier.fill(100);
    showing.busiest.fill(0.1);
    showing.fingerprint = 1;
    return showing;
}

Change change(Expected expected, std::vector<Part> parts, std::optional<LinkTier> tier = {}, std::string group = "") {
    Change change;
    change.lever.parts = std::move(parts);
    change.lever.tier = tier;
    change.lever.group = std::move(group);
    change.expected = expected;
    return change;
}

// 10 s -> 11 s, of which compute +0.9 and tp_exposed +0.1: a tenth or more of the first is named too.
TEST(SensitivityReason, NamesThePartsThatMoved) {
    Showing after = showing();
    after.metrics.step_time_s = 11;
    after.metrics.breakdown_s[static_cast<std::size_t>(Part::compute)] = 8.9;
    after.metrics.breakdown_s[static_cast<std::size_t>(Part::tp_exposed)] = 2.1;
    EXPECT_EQ(reason_of(change(Expected::slower, {}), 1, showing(), after), "compute +0.9 s, tp_exposed +0.1 s");
    EXPECT_EQ(reason_of(change(Expected::either, {}), 1, showing(), after), "compute +0.9 s, tp_exposed +0.1 s");
    EXPECT_THAT(reason_of(change(Expected::faster, {}), 1, showing(), after), HasSubstr("against expectation: "));
}

TEST(SensitivityReason, SaysWhichPartBoundsAStepThatDidNotMove) {
    Showing after = showing();
    after.fingerprint = 2;
    EXPECT_EQ(reason_of(change(Expected::slower, {Part::dp_exposed}), 2, showing(), after),
              "dp_exposed is 0 % of the step, 0 % after; compute bounds the step with 80 %");
    after.fingerprint = 1;
    EXPECT_THAT(reason_of(change(Expected::slower, {Part::dp_exposed}), 2, showing(), after),
                HasSubstr("every event comes at the same time"));
}

TEST(SensitivityReason, SaysThatThereIsNoGroup) {
    const Change overlap = change(Expected::faster, {Part::tp_exposed}, {}, "tensor");
    EXPECT_THAT(reason_of(overlap, 1, showing(), showing()), HasSubstr("training.parallel.tensor is 1"));
    EXPECT_THAT(reason_of(overlap, 2, showing(), showing()), HasSubstr("tp_exposed is 20 % of the step"));
}

TEST(SensitivityReason, SaysHowBusyTheLinksAre) {
    const Change halved = change(Expected::slower, {}, LinkTier::pcie);
    Showing before = showing();
    before.busiest[static_cast<std::size_t>(LinkTier::core)] = 0.7;
    EXPECT_THAT(reason_of(halved, 1, before, showing()),
                HasSubstr("the busiest pcie link is 10 % busy, 10 % after, the busiest core link 70 %"));
    before.metrics.bytes_per_tier.fill(0);
    EXPECT_THAT(reason_of(halved, 1, before, showing()), HasSubstr("no byte crosses the pcie links"));
}

// The step stays 10 s while 1 s moves from one part to another.
TEST(SensitivityReason, NamesWhatMovedInsideAStepThatDidNot) {
    Showing after = showing();
    after.metrics.breakdown_s[static_cast<std::size_t>(Part::compute)] = 7;
    after.metrics.breakdown_s[static_cast<std::size_t>(Part::bubble)] = 1;
    EXPECT_THAT(reason_of(change(Expected::slower, {Part::compute}), 1, showing(), after),
                HasSubstr("inside it compute -1 s, bubble +1 s"));
}

class SensitivityTest : public ::testing::Test {
protected:
    SensitivityTest() { path_ = folder_.file("job.yaml", small_yaml); }
    Sensitivity measure(const std::vector<std::string>& changes, const std::vector<std::string>& overrides = {}) {
        return measure_sensitivity({path_, overrides, changes, "", 1});
    }
    TemporaryFolder folder_;
    std::string path_;
};

// small: tensor 2, pipeline 2, virtual 2, data 4 on two nodes; without jitter, so that only the mechanism moves it.
TEST_F(SensitivityTest, EveryStandardChangeGoesItsWayOrSaysWhyNot) {
    const Sensitivity all = measure({}, {"models.variation.jitter=0", "models.variation.host_tail_slowdown=0"});
    EXPECT_EQ(all.effects.size(), levers().size() - 4);  // those of kind moe
    std::size_t moved = 0;
    for (const Effect& effect : all.effects) {
        const std::string& key = effect.change.lever.key;
        EXPECT_NE(effect.change.from, "") << key;
        EXPECT_NE(effect.change.from, effect.change.to) << key;
        EXPECT_NE(effect.reason, "") << key;
        EXPECT_THAT(effect.reason, Not(HasSubstr("against expectation"))) << key;
        if (effect.after && std::abs(effect.difference) >= noticeable) ++moved;
    }
    EXPECT_GE(moved, 15U);
}

TEST_F(SensitivityTest, TheExpectedDirectionIsThatOfTheChange) {
    const auto expected = [](const char* text) { return change_of(valid_small(), text).expected; };
    EXPECT_EQ(expected("training.batch_global=64"), Expected::slower);
    EXPECT_EQ(expected("training.batch_global=16"), Expected::faster);
    EXPECT_EQ(expected("cluster.node.nic=100 Gbps"), Expected::slower);
    EXPECT_EQ(expected("cluster.node.nic=50 GB/s"), Expected::faster);
    EXPECT_EQ(expected("training.technique.overlap_data=on"), Expected::faster);
    EXPECT_EQ(expected("training.technique.overlap_data=off"), Expected::either);  // it is off
    EXPECT_EQ(expected("training.recompute=full"), Expected::slower);
    EXPECT_EQ(expected("seed=2"), Expected::either);
}

TEST_F(SensitivityTest, TheThreadsChangeNothing) {
    const SensitivityRequest three{path_, {}, {}, "", 3};
    EXPECT_EQ(sensitivity_json(measure({})), sensitivity_json(measure_sensitivity(three)));
}

// One node: nothing crosses a NIC. Tensor 1: no tensor collective.
TEST_F(SensitivityTest, ReasonsComeFromTheRun) {
    const Sensitivity one_node = measure({"cluster.node.nic=100 Gbps", "training.technique.overlap_tensor=on"},
                                         {"job.gpus=8", "training.parallel={pipeline: 2, virtual: 2, data: 4}"});
    EXPECT_THAT(one_node.effects[0].reason, HasSubstr("no byte crosses the host links"));
    EXPECT_THAT(one_node.effects[1].reason, HasSubstr("training.parallel.tensor is 1"));
    const Sensitivity two_nodes = measure({"cluster.node.nic=100 Gbps", "training.model.heads=15"});
    EXPECT_GT(two_nodes.effects[0].difference, noticeable);
    EXPECT_FALSE(two_nodes.effects[1].after);
    EXPECT_THAT(two_nodes.effects[1].reason, HasSubstr("does not run: training.model.h"));
}

TEST_F(SensitivityTest, TheCommandPrintsATableAndWritesJson) {
    const ProgramResult result = run_rehearse({"sensitivity", "job.yaml", "--change", "training.batch_global=64",
                                               "--change", "seed=2", "--json", "out.json"},
                                              folder_.path());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("training.batch_global    32  64"));
    const Json json = Json::parse(slurp(folder_.path() / "out.json"));
    ASSERT_EQ(json["changes"].size(), 2U);
    const Json& batch = json["changes"][0];
    EXPECT_EQ(batch["expected"], "slower");
    EXPECT_NEAR(batch["difference"].get<double>(),
                batch["step_time_s"].get<double>() / json["step_time_s"].get<double>() - 1, 1e-12);
    double sum = 0;
    for (const auto& [part, seconds] : batch["breakdown_s"].items()) sum += seconds.get<double>();
    EXPECT_NEAR(sum, batch["step_time_s"].get<double>(), 1e-9);
    EXPECT_EQ(json["changes"][1]["expected"], "either");
}

// Reasons are sentences and values may be maps: both fit a line of 120 columns.
TEST_F(SensitivityTest, TheTableFitsTheScreen) {
    Sensitivity all = measure({});
    Effect faulty{change(Expected::slower, {}), {}, 0, ""};
    faulty.change.lever.key = "models.variation.host_tail_slowdown";
    faulty.change.from = faulty.change.to = "{tensor: 2, pipeline: 2, virtual: 2, data: 4}";
    for (int i = 0; i < 40; ++i) faulty.reason += "some words ";
    all.effects.push_back(faulty);
    std::istringstream lines(sensitivity_text(all));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 120U) << line;
    EXPECT_GE(count, 2 * all.effects.size());
}

// 400 Gbps on a port of 400 Gbps that two NICs share.
TEST_F(SensitivityTest, AChangeThatDoesNotRunSaysWhatWould) {
    const Sensitivity faster = measure({"cluster.node.nic=400 Gbps"});
    EXPECT_FALSE(faster.effects[0].after);
    EXPECT_THAT(faster.effects[0].reason, HasSubstr("does not run: cluster.node.nic: "));
    EXPECT_THAT(faster.effects[0].reason, HasSubstr("(at most 200 Gbps); set fabric.port_split: off"));
    EXPECT_TRUE(measure({"cluster.node.nic=400 Gbps"}, {"cluster.fabric.port_split=off"}).effects[0].after);
}

TEST_F(SensitivityTest, AMistypedChangeIsAFault) {
    const auto error_of = [&](const std::string& text) {
        const ProgramResult result = run_rehearse({"sensitivity", "job.yaml", "--change", text}, folder_.path());
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_EQ(result.out, "");
        return result.err;
    };
    EXPECT_THAT(error_of("training.batch_globl=64"), HasSubstr("did you mean \"batch_global\"?"));
    EXPECT_THAT(error_of("cluster.node.nic=100"), HasSubstr("100 Gbps"));
    EXPECT_THAT(error_of("job.gpus"), HasSubstr("\"job.gpus\" changes nothing"));
}

}  // namespace
}  // namespace rehearse

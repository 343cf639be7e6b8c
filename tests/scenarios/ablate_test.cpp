// rehearse ablate on a small job, and what it refuses.
#include "scenarios/ablate/ablate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "scenarios/reading/scenario_yaml.hpp"
#include "sim/base/fault.hpp"
#include "tests/scenarios/program.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string techniques = "  technique: {overlap_tensor: on, overlap_data: on, operators: efficient}\n";
const std::string groups_yaml = R"(ablation:
  comm: [training.technique.overlap_tensor=off, training.technique.overlap_data=off]
  operators: [training.technique.operators=unfused]
)";

class AblateTest : public ::testing::Test {
protected:
    using Names = std::vector<std::string>;
    Ablation measure(const std::string& text, const Names& order = {}, std::int64_t seeds = 1,
                     std::int64_t threads = 1) {
        return measure_ablation({folder_.file("job.yaml", text), {}, order, "", seeds, threads});
    }
    std::string refusal(const std::string& text, const Names& order = {}) {
        try {
            measure(text, order);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    // The step time that `rehearse run` prints for the same file.
    double step_time(const std::vector<std::string>& set) {
        std::vector<std::string> words{"run", "job.yaml", "--stop-after", "metrics"};
        for (const std::string& text : set) words.insert(words.end(), {"--set", text});
        return Json::parse(run_rehearse(words, folder_.path()).out)["step_time_s"].get<double>();
    }
    TemporaryFolder folder_;
};

TEST_F(AblateTest, EachSubsetIsARunOfTheScenarioWithTheOtherGroupsOff) {
    const Ablation ablation = measure(small_yaml + techniques + groups_yaml);
    ASSERT_EQ(ablation.subsets.size(), 4U);
    const std::vector<std::string> comm = ablation.groups[0].off, operators = ablation.groups[1].off;
    EXPECT_EQ(ablation.groups[0].name, "comm");
    std::vector<std::string> none = comm;
    none.insert(none.end(), operators.begin(), operators.end());
    EXPECT_EQ(ablation.subsets[0].step_time_s, step_time(none));
    EXPECT_EQ(ablation.subsets[1].step_time_s, step_time(operators));
    EXPECT_EQ(ablation.subsets[2].step_time_s, step_time(comm));
    EXPECT_EQ(ablation.subsets[3].step_time_s, step_time({}));
    EXPECT_THAT(ablation.warnings, IsEmpty());
}

TEST_F(AblateTest, FactorsMultiplyToTheSpeedUpAndPartsAddUpToTheStep) {
    const Ablation ablation = measure(small_yaml + techniques + groups_yaml);
    EXPECT_DOUBLE_EQ(ablation.split.speed_up, ablation.subsets[0].step_time_s / ablation.subsets[3].step_time_s);
    double ordered = 1, shapley = 1;
    for (const GroupShare& share : ablation.split.groups) {
        EXPECT_GT(share.ordered, 1);  // both help this job
        ordered *= share.ordered;
        shapley *= share.shapley;
    }
    EXPECT_NEAR(ordered, ablation.split.speed_up, 1e-12);
    EXPECT_NEAR(shapley, ablation.split.speed_up, 1e-12);
    for (const SubsetRun& subset : ablation.subsets)
        EXPECT_NEAR(std::accumulate(subset.breakdown_s.begin(), subset.breakdown_s.end(), 0.0), subset.step_time_s,
                    1e-9 * subset.step_time_s);
    // The overlaps act on exposed communication alone, the operators on the compute stream.
    const auto part = [&](GroupSet on, Part which) {
        return ablation.subsets[on].breakdown_s[static_cast<std::size_t>(which)];
    };
    EXPECT_LT(part(1, Part::tp_exposed), part(0, Part::tp_exposed));
    EXPECT_LT(part(2, Part::compute), part(0, Part::compute));
}

TEST_F(AblateTest, TheOrderChoosesGroupsAndTheirPlaces) {
    const std::string text = small_yaml + techniques + groups_yaml;
    const Ablation written = measure(text), turned = measure(text, Names{"operators", "comm"});
    EXPECT_EQ(turned.groups[0].name, "operators");
    EXPECT_EQ(turned.subsets[1].step_time_s, written.subsets[2].step_time_s);
    EXPECT_DOUBLE_EQ(turned.split.groups[0].shapley, written.split.groups[1].shapley);
    const Ablation one = measure(text, Names{"comm"});
    EXPECT_EQ(one.subsets.size(), 2U);  // the operators stay as the scenario has them
    EXPECT_EQ(one.subsets[0].step_time_s, written.subsets[2].step_time_s);
}

TEST_F(AblateTest, WithoutGroupsEachTechniqueThatIsOnIsOne) {
    const Ablation ablation = measure(small_yaml + "  technique: {window: 128, operators: fused}\n");
    ASSERT_EQ(ablation.groups.size(), 2U);
    EXPECT_EQ(ablation.groups[0].name, "window");
    EXPECT_THAT(ablation.groups[0].off, ElementsAre("training.technique.window=off"));
    EXPECT_THAT(ablation.groups[1].off, ElementsAre("training.technique.operators=unfused"));
    EXPECT_THAT(refusal(small_yaml), HasSubstr("no technique is on, and no group is named"));
}

TEST_F(AblateTest, ThreadsChangeNothingAndTheMedianOfTheSeedsCounts) {
    const std::string text = small_yaml + techniques + groups_yaml;
    const Ablation one = measure(text, {}, 3), four = measure(text, {}, 3, 4);
    EXPECT_EQ(ablation_json(one), ablation_json(four));
    EXPECT_EQ(ablation_text(one), ablation_text(four));
    for (const SubsetRun& subset : one.subsets) {
        std::vector<double> times = subset.seed_step_times_s;
        ASSERT_EQ(times.size(), 3U);
        std::ranges::sort(times);
        EXPECT_EQ(subset.step_time_s, times[1]);
        EXPECT_LT(times[0], times[2]);
    }
}

// LAMB takes three times the batch: its step is longer, and its gain is in tokens per second.
TEST_F(AblateTest, DifferentBatchesAreComparedPerToken) {
    const Ablation ablation = measure(small_yaml + "  technique: {batch_factor: 3}\n");
    ASSERT_EQ(ablation.subsets.size(), 2U);
    EXPECT_GT(ablation.subsets[1].step_time_s, ablation.subsets[0].step_time_s);
    EXPECT_GT(ablation.split.speed_up, 1);  // less of the step is bubble
    EXPECT_NEAR(ablation.split.speed_up, 3 * ablation.subsets[0].step_time_s / ablation.subsets[1].step_time_s, 1e-12);
    EXPECT_THAT(ablation_text(ablation), HasSubstr("different batches"));
}

TEST_F(AblateTest, TheResolvedScenarioKeepsItsGroups) {
    const std::string text = small_yaml + techniques + groups_yaml;
    const std::string resolved = scenario_yaml(parse_scenario(text, "job.yaml"));
    EXPECT_THAT(resolved, HasSubstr("ablation:\n  comm: [\"training.technique.overlap_tensor=off\", "));
    EXPECT_EQ(scenario_yaml(parse_scenario(resolved, "resolved.yaml")), resolved);
    EXPECT_EQ(scenario_yaml(small_scenario()).find("ablation"), std::string::npos);
}

TEST_F(AblateTest, KeysThatTheScenarioDoesNotHaveAreFaultsAtTheirPlace) {
    const std::string sound = small_yaml + techniques;
    const auto fault = [&](const std::string& off) {
        try {
            parse_scenario(sound + "ablation:\n  comm: [" + off + "]\n", "job.yaml");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(fault("training.technique.overlap_tensr=off"),
                AllOf(HasSubstr("job.yaml:12:10: ablation.comm: training.technique.overlap_tensr: unknown key"),
                      HasSubstr("did you mean \"overlap_tensor\"?")));
    EXPECT_THAT(fault("training.technique.operators=slow"), HasSubstr("ablation.comm: training.technique.operators: "));
    EXPECT_THAT(fault("training.micro_batch=0"), HasSubstr("ablation.comm: training.micro_batch: "));
    EXPECT_THAT(fault("overlap"), HasSubstr("has no value"));
    EXPECT_THAT(fault("seed=2"), HasSubstr("seed is the same in every run"));
    EXPECT_THAT(fault(""), HasSubstr("a group that changes nothing"));
    EXPECT_THAT(fault("training.micro_batch=1, training.micro_batch=2"), HasSubstr("contradicts"));
    EXPECT_THAT(fault("training.micro_batch=1]\n  other: [training.micro_batch=1"), IsEmpty());
    EXPECT_THAT(fault("training.recompute=full]\n  other: [\"training={recompute: none}\""), HasSubstr("contradicts"));
    EXPECT_THAT(fault("training.micro_batch=1]\n  \"a,b\": [training.dropout=on"), HasSubstr("a comma in its name"));
}

TEST_F(AblateTest, GroupsThatAreNotThereOrCannotRunAreRefused) {
    const std::string text = small_yaml + techniques + groups_yaml;
    EXPECT_THAT(refusal(text, Names{"com"}),
                AllOf(HasSubstr("--order"), HasSubstr("\"com\" is no group"), HasSubstr("did you mean \"comm\"?")));
    EXPECT_THAT(refusal(text, Names{"comm", "comm"}), HasSubstr("named twice"));
    EXPECT_THAT(refusal(small_yaml + techniques + "ablation: {degree: [training.parallel.tensor=3]}\n"),
                HasSubstr("with degree off: "));
    std::string many = "ablation:\n";
    for (int i = 0; i < 11; ++i) many += "  g" + std::to_string(i) + ": [training.dropout=on]\n";
    EXPECT_THAT(refusal(small_yaml + many), HasSubstr("at most 10 groups"));
}

TEST_F(AblateTest, AnOffValueThatIsOnAnywayIsAWarning) {
    const Ablation ablation = measure(small_yaml + techniques + "ablation: {comm: [training.recompute=none]}\n");
    ASSERT_EQ(ablation.warnings.size(), 1U);
    EXPECT_THAT(ablation.warnings[0],
                AllOf(HasSubstr("job.yaml:11:"), HasSubstr("training.recompute=none is what the full system has")));
    EXPECT_DOUBLE_EQ(ablation.split.speed_up, 1);
}

TEST_F(AblateTest, TheProgramPrintsTheSplitAndWritesIt) {
    folder_.file("job.yaml", small_yaml + techniques + groups_yaml);
    const ProgramResult result =
        run_rehearse({"ablate", "job.yaml", "--order", "comm,operators", "--json", "out.json"}, folder_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* text : {"tp_exposed", "comm", "operators", "Shapley", " = "})
        EXPECT_THAT(result.out, HasSubstr(text));
    const Json json = Json::parse(slurp(folder_.path() / "out.json"));
    EXPECT_EQ(json["subsets"].size(), 4U);
    EXPECT_EQ(json["subsets"][1]["on"], Json::array({"comm"}));
    EXPECT_EQ(json["groups"][1]["name"], "operators");
    EXPECT_EQ(run_rehearse({"ablate", "job.yaml", "--order", "com"}, folder_.path()).exit_code, 2);
    EXPECT_EQ(run_rehearse({"ablate", "missing.yaml"}, folder_.path()).exit_code, 2);
}

}  // namespace
}  // namespace rehearse

// A scenario file becomes the values that it says, with defaults for the rest, and is written back to the same values.
#include "scenarios/reading/read_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/reading/scenario_yaml.hpp"
#include "tests/scenarios/small.hpp"
#include "tests/sim/temporary_folder.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        parse_scenario(text, "s.yaml", overrides);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(ReadScenario, TakesValuesFromTheFileAndDefaultsOtherwise) {
    const Scenario scenario = small_scenario();
    EXPECT_EQ(scenario.name, "small");
    EXPECT_EQ(scenario.seed, 1U);
    EXPECT_EQ(scenario.cluster.node.nvlink, gigabytes_per_second(300));
    EXPECT_EQ(scenario.cluster.fabric.switch_ports, FabricSpec{}.switch_ports);
    EXPECT_EQ(scenario.job.gpus, 16);
    EXPECT_EQ(scenario.training.parallel.virtual_stages, 2);
    EXPECT_EQ(scenario.training.parallel.zero, 0);
    EXPECT_EQ(scenario.models.network.fidelity, Fidelity::flow);
    EXPECT_EQ(scenario.models.profile_name, "megascale-ampere");
}

TEST(ReadScenario, NameDefaultsToTheFile) {
    std::string text = small_yaml;
    text.erase(0, text.find('\n') + 1);
    EXPECT_EQ(parse_scenario(text, "folder/my_job.yaml").name, "my_job");
}

TEST(ReadScenario, RankOrderPutsContextBesideTensorWhenLeftOut) {
    const auto order = small_scenario().training.parallel.rank_order;
    const std::array expected{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
    EXPECT_EQ(order, expected);
    const auto other =
        small_scenario({"job.rank_order=[data, context, pipeline, tensor]"}).training.parallel.rank_order;
    EXPECT_EQ(other[0], Dimension::data);
    EXPECT_EQ(other[3], Dimension::tensor);
}

TEST(ReadScenario, ASwitchNameSetsPortsAndRate) {
    const Scenario scenario = small_scenario({"cluster.fabric.switch=tomahawk-5"});
    EXPECT_EQ(scenario.cluster.fabric.switch_ports, 64);
    EXPECT_EQ(scenario.cluster.fabric.switch_port_rate, gigabits_per_second(800));
    const Scenario replaced = small_scenario({"cluster.fabric.switch=tomahawk-3", "cluster.fabric.switch_ports=16"});
    EXPECT_EQ(replaced.cluster.fabric.switch_ports, 16);
}

TEST(ReadScenario, VariationLiesOverTheProfile) {
    const Scenario scenario = small_scenario({"models.variation.jitter=7 %"});
    EXPECT_DOUBLE_EQ(scenario.models.profile.variation.jitter.value, 0.07);
    const Scenario plain = small_scenario();
    EXPECT_EQ(scenario.models.profile.variation.host_tail_share, plain.models.profile.variation.host_tail_share);
}

TEST(ReadScenario, AWindowMayBeOff) {
    EXPECT_EQ(small_scenario({"training.technique.window=off"}).training.technique.window, 0);
    EXPECT_EQ(small_scenario({"training.technique.window=256"}).training.technique.window, 256);
}

// A profile beside the scenario comes before the library's.
TEST(ReadScenario, FindsAProfileBesideTheScenario) {
    const TemporaryFolder folder;
    folder.file("mine.yaml", slurp(std::string(REHEARSE_SOURCE_DIR) + "/tests/golden/round-device.yaml"));
    const std::string path = folder.file("job.yaml", small_yaml + "models: {profile: mine}\n");
    const Scenario scenario = read_scenario(path);
    EXPECT_EQ(scenario.models.profile_path, (folder.path() / "mine.yaml").string());
    EXPECT_DOUBLE_EQ(scenario.models.profile.peak.value, 100e12);
}

TEST(ReadScenario, AMissingProfileIsAFaultAtItsKey) {
    const std::string error = error_of(small_yaml + "models: {profile: no-such}\n");
    EXPECT_THAT(error, HasSubstr("s.yaml:10:19: models.profile: no profile \"no-such\""));
}

TEST(ReadScenario, ReportsAllFaultsOfAFileTogether) {
    const std::string error = error_of(small_yaml, {"cluster.node.nic=200", "training.modle.layers=3", "job.gpus=-1"});
    EXPECT_THAT(error, HasSubstr("cluster.node.nic"));
    EXPECT_THAT(error, HasSubstr("did you mean \"model\"?"));
    EXPECT_THAT(error, HasSubstr("job.gpus"));
}

TEST(ReadScenario, AnEmptyFileNamesWhatIsMissing) {
    const std::string error = error_of("");
    EXPECT_THAT(error, HasSubstr("job: the key is missing"));
    EXPECT_THAT(error, HasSubstr("training: the key is missing"));
}

TEST(ReadScenario, AGptHasNoExperts) {
    EXPECT_THAT(error_of(small_yaml, {"training.parallel.expert=2"}), HasSubstr("a model of kind gpt has no experts"));
}

// write(read(text)) = w, and write(read(w)) = w: nothing is lost and nothing drifts.
TEST(ReadScenario, ResolvedTextReadsBackToItself) {
    for (const std::vector<std::string>& overrides : std::vector<std::vector<std::string>>{
             {},
             {"seed=18446744073709551615", "name='a: b # c'"},
             {"cluster.fabric.kind=fat_tree", "cluster.node.nics=1", "cluster.fabric.switch_latency=1.5 us"},
             {"training.technique.window=77", "training.recompute=full", "models.network.framing=oefh-bth"},
             {"models.variation.jitter=0.123456789", "models.network.coalesce=250 ns", "training.parallel.zero=2"}}) {
        const std::string first = scenario_yaml(small_scenario(overrides));
        EXPECT_EQ(scenario_yaml(parse_scenario(first, "resolved.yaml")), first);
    }
}

}  // namespace
}  // namespace rehearse

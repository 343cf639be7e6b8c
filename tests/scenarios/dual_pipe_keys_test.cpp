// What a scenario under DualPipe must satisfy, and what is said when it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "sim/base/fault.hpp"
#include "tests/scenarios/program.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;

std::string faults_of(const std::string& library_name, const std::vector<std::string>& overrides) {
    try {
        validate(read_scenario(library_path(library_name), overrides));
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

std::string faults_with(const std::string& override) { return faults_of("deepseek_v3_2048", {override}); }

TEST(DualPipeKeys, RefusesWhatItCannotFoldOrPair) {
    EXPECT_EQ(faults_of("deepseek_v3_2048", {}), "");
    EXPECT_THAT(faults_with("training.batch_global=3840"), HasSubstr("dual_pipe feeds 30 micro-batches per replica"));
    EXPECT_THAT(faults_with("training.recompute=full"), HasSubstr("dual_pipe computes parts of a layer again"));
    EXPECT_THAT(faults_with("training.technique.overlap_pipeline=off"), HasSubstr("messages of dual_pipe are asynchr"));
    EXPECT_THAT(faults_of("deepseek_v3_2048", {"training.parallel.tensor=2", "training.parallel.sequence=on"}),
                HasSubstr("dual_pipe pairs layers that are not cut: tensor 2, context 1"));
    EXPECT_THAT(faults_with("training.parallel.pipeline=1"), HasSubstr("pipeline 1 is odd"));
    EXPECT_THAT(faults_with("training.parallel.last_stage_layers=50"), HasSubstr("leave 11 for the others"));
    EXPECT_THAT(faults_with("training.model.experts.node_limit=1"), HasSubstr("1 nodes of one rank each hold 4"));
    EXPECT_THAT(faults_of("dense_64", {"training.parallel.schedule=dual_pipe"}), HasSubstr("the model is of kind gpt"));
}

TEST(DualPipeKeys, TheUsualScheduleIsNotWritten) {
    const auto resolved = [](const std::string& name) {
        return scenario_yaml(validate(read_scenario(library_path(name))).plain());
    };
    EXPECT_THAT(resolved("deepseek_v3_2048"), HasSubstr("schedule: dual_pipe"));
    EXPECT_THAT(resolved("dense_64"), testing::Not(HasSubstr("schedule:")));
}

}  // namespace
}  // namespace rehearse

// Directions: more work or less bandwidth never makes a step faster, and each technique helps the system it was made
// for. Steps without jitter, so that only the mechanism moves the answer.
#include <gtest/gtest.h>

#include "scenarios/predict.hpp"
#include "scenarios/read_scenario.hpp"
#include "scenarios/validate_scenario.hpp"

namespace rehearse {
namespace {

// 175B cut to 16 layers on 64 GPUs: tensor 8, pipeline 4 with two chunks, data 2.
double step(const std::vector<std::string>& changes) {
    std::vector<std::string> overrides{"job.gpus=64",
                                       "training.model.layers=16",
                                       "training.parallel.pipeline=4",
                                       "training.parallel.virtual=2",
                                       "training.batch_global=32",
                                       "models.variation.jitter=0",
                                       "models.variation.host_tail_slowdown=0"};
    overrides.insert(overrides.end(), changes.begin(), changes.end());
    const std::string path = std::string(REHEARSE_SOURCE_DIR) + "/scenarios/library/megascale_ablation_1.yaml";
    const Predictor predictor(validate(read_scenario(path, overrides)));
    return predictor.step_seconds(predictor.scenario().models().profile, {1}, Fidelity::flow);
}

class Slower : public testing::TestWithParam<std::vector<std::string>> {};
TEST_P(Slower, ThanTheBase) { EXPECT_GT(step(GetParam()), step({})); }
INSTANTIATE_TEST_SUITE_P(
    Changes, Slower,
    testing::Values(std::vector<std::string>{"training.batch_global=64"},
                    std::vector<std::string>{"training.model.layers=32"},
                    std::vector<std::string>{"training.model.vocab=128000"},
                    std::vector<std::string>{"training.model.sequence=4096", "training.recompute=full"},
                    std::vector<std::string>{"training.recompute=full"},
                    std::vector<std::string>{"cluster.node.nic=100 Gbps"},
                    std::vector<std::string>{"cluster.node.pcie=10 GB/s"},
                    std::vector<std::string>{"training.dropout=on"},
                    std::vector<std::string>{"models.variation.jitter=0.05"}));

class Faster : public testing::TestWithParam<std::string> {};
TEST_P(Faster, ThanTheBase) { EXPECT_LT(step({"training.technique." + GetParam()}), step({})); }
INSTANTIATE_TEST_SUITE_P(Techniques, Faster,
                         testing::Values("parallel_block=on", "window=768", "overlap_tensor=on", "overlap_pipeline=on",
                                         "overlap_data=on", "operators=efficient", "overlap_input=on"));

// LAMB: three times the batch takes less than three times the step, because the fixed parts and the bubble stay.
TEST(Lamb, AmortisesTheFixedPartsOfAStep) { EXPECT_LT(step({"training.technique.batch_factor=3"}), 3 * step({})); }

}  // namespace
}  // namespace rehearse

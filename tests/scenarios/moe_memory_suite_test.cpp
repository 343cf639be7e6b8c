// What selective recomputation saves: every figure of the suite within its bounds, and the formula by hand.
#include <gtest/gtest.h>

#include <map>

#include "models/workload/moe/moe_memory.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/suites.hpp"
#include "tests/scenarios/program.hpp"

namespace rehearse {
namespace {

TEST(MoeMemorySuite, EveryFigureIsWithinItsBounds) {
    const ValidationSuite suite = moe_memory_suite().compute({});
    std::map<std::string, double> predicted;
    for (const ValidationFigure& figure : suite.figures) {
        EXPECT_FALSE(figure.exceeds_band()) << figure.published.quantity << ": " << figure.predicted;
        predicted[figure.published.quantity] = figure.predicted;
    }
    EXPECT_GT(predicted.at("352B on 240 GPUs, with, interleaved"), predicted.at("352B on 240 GPUs, with"));
    EXPECT_LT(predicted.at("352B on 240 GPUs, with, interleaved"), 76);  // 80 GB less the reserve of 4 GB
}

// n h: 1,024 tokens of a rank x 4,096; two bytes each. k = 2, f = 3.5, m = 4, w = 8 where kernels gather.
TEST(MoeMemorySuite, ALayerKeepsWhatTheFormulaSays) {
    TrainingSpec training = validate(read_scenario(library_path("mixtral_8x7b_128"))).training();
    const double unit = 2 * 1024 * 4096;
    const auto units = [&](Recompute recompute) { return moe_layer_activation_bytes(training, 0, recompute) / unit; };
    EXPECT_DOUBLE_EQ(units(Recompute::none), 2 * 8 + 2 * 2 + 3 * 2 * 3.5 + 12 + 5.0 / 4);
    EXPECT_DOUBLE_EQ(units(Recompute::selective), 2 * 2 * 3.5 + 4 + 2.0 / 4);
    EXPECT_DOUBLE_EQ(units(Recompute::full), 1);
    training.technique.overlap_tiles = Switch::off;  // an all-to-all: k rows instead of w copies
    EXPECT_DOUBLE_EQ(units(Recompute::none), 2 * 2 + 2 * 2 + 3 * 2 * 3.5 + 12 + 5.0 / 4);
    training.model.experts.shared = 1;
    EXPECT_DOUBLE_EQ(units(Recompute::none), 2 * 2 + 2 * 2 + 3 * 3 * 3.5 + 12 + 5.0 / 4);
    EXPECT_DOUBLE_EQ(units(Recompute::selective), 2 * 3 * 3.5 + 4 + 2.0 / 4);
}

}  // namespace
}  // namespace rehearse

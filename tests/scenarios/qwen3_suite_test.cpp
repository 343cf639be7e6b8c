// Unequal routing against forced balance, Qwen3-235B: one number fitted on the sequence of 16K, the others predicted.
#include <gtest/gtest.h>

#include <map>

#include "scenarios/validation/suites.hpp"

namespace rehearse {
namespace {

TEST(Qwen3Suite, TheFitIsThatOf16KAndTheOrderIsKept) {
    const ValidationSuite suite = qwen3_imbalance_suite().compute({});
    EXPECT_FALSE(suite.exceeds_band());
    std::map<std::string, double> predicted;
    for (const ValidationFigure& figure : suite.figures) predicted[figure.published.quantity] = figure.predicted;
    EXPECT_NEAR(predicted.at("slow-down, 16K"), 1.245, 0.01);  // else concentration of routing_qwen3.yaml is stale
    EXPECT_GT(predicted.at("slow-down, 16K"), predicted.at("slow-down, 32K"));
    EXPECT_GT(predicted.at("slow-down, 32K"), predicted.at("slow-down, 64K"));
    EXPECT_GT(predicted.at("slow-down, 64K"), predicted.at("slow-down, 128K"));
    EXPECT_GT(predicted.at("slow-down, 128K"), 1.0);
    // Attention is a larger part of long sequences, and the more efficient one.
    EXPECT_LT(predicted.at("forced balance, 16K"), predicted.at("forced balance, 128K"));
}

}  // namespace
}  // namespace rehearse

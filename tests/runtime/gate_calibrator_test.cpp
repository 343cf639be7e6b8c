#include "runtime/gate_calibrator/gate_calibrator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/gate_calibrator/sign_bias.hpp"
#include "runtime/gate_calibrator/top_k.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

constexpr std::uint32_t experts = 32, tokens = 2'000, k = 2;

// A gate that prefers some experts: logit = preference of the expert + standard normal noise.
struct Step {
    std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(experts, 0);
    std::vector<double> mass = std::vector<double>(experts, 0.0);

    // (max - mean) / mean of the tokens per expert, as the aux-loss-free paper reports it.
    double max_violation() const {
        const double mean = static_cast<double>(tokens) * k / experts;
        return (static_cast<double>(*std::max_element(counts.begin(), counts.end())) - mean) / mean;
    }
};

Step route(std::uint64_t step, std::span<const float> correction) {
    static const Stream noise(7, "test.gate");
    Step result;
    std::vector<float> logits(experts);
    std::vector<ExpertChoice> chosen;
    for (std::uint32_t t = 0; t < tokens; ++t) {
        double sum = 0;
        for (std::uint32_t e = 0; e < experts; ++e) {
            const double preference = 1.5 * std::sin(1.0 + e);
            logits[e] = static_cast<float>(preference + noise.normal(step * tokens + t, e));
            sum += std::exp(logits[e]);
        }
        for (std::uint32_t e = 0; e < experts; ++e) result.mass[e] += std::exp(logits[e]) / sum;
        choose_experts(logits, correction, k, chosen);
        for (const ExpertChoice& choice : chosen) ++result.counts[choice.expert];
    }
    return result;
}

std::vector<float> negative(std::span<const float> values) {
    std::vector<float> out;
    for (const float value : values) out.push_back(-value);
    return out;
}

TEST(GateCalibrator, EvensTheLoadOfASkewedGate) {
    GateCalibrator calibrator(experts);
    SignBias bias(experts, 0.05f);
    const double before = route(0, {}).max_violation();
    for (std::uint64_t step = 0; step < 60; ++step) {
        const Step corrected = route(step, negative(calibrator.penalty()));
        calibrator.update(corrected.mass, tokens);
        bias.update(route(step, bias.bias()).counts);
    }
    const double calibrated = route(100, negative(calibrator.penalty())).max_violation();
    const double biased = route(100, bias.bias()).max_violation();
    EXPECT_GT(before, 2);
    EXPECT_LT(calibrated, 0.6 * before);  // the gate's own mass stays skewed: log(1 + h) takes only a part of it back
    EXPECT_LT(biased, calibrated);        // the sign bias goes on until the load is even
}

// The same shares of a batch ten times as large give the same penalty; an even load gives none.
TEST(GateCalibrator, IsFreeOfTheBatch) {
    GateCalibrator small(4), large(4), even(4);
    small.update(std::vector<double>{70, 10, 10, 10}, 100);
    large.update(std::vector<double>{700, 100, 100, 100}, 1'000);
    even.update(std::vector<double>{25, 25, 25, 25}, 100);
    for (std::size_t e = 0; e < 4; ++e) {
        EXPECT_FLOAT_EQ(small.penalty()[e], large.penalty()[e]);
        EXPECT_EQ(even.penalty()[e], 0.0f);
    }
    // By hand: h = 0.95 + 0.05 x 2.8 = 1.09 and 0.97; (ln 2.09 - ln 1.97) x (1 + 0.1 x 0.12).
    EXPECT_NEAR(small.penalty()[0], (std::log(2.09) - std::log(1.97)) * 1.012, 1e-6);
    EXPECT_EQ(small.penalty()[1], 0.0f);
}

TEST(GateCalibrator, GoesOnFromACheckpoint) {
    GateCalibrator first(3), second(3);
    first.update(std::vector<double>{5, 2, 2}, 9);
    second.restore(first.history());
    first.update(std::vector<double>{1, 4, 4}, 9);
    second.update(std::vector<double>{1, 4, 4}, 9);
    EXPECT_TRUE(std::equal(first.penalty().begin(), first.penalty().end(), second.penalty().begin()));
}

// The correction moves the choice and leaves the weights: softmax of 2 and 1 over the two chosen.
TEST(TopK, WeightsComeFromUncorrectedLogits) {
    const std::vector<float> logits{2, 1, 0.5, -1}, correction{-1.2f, 0, 0, 0};
    std::vector<ExpertChoice> chosen;
    choose_experts(logits, correction, 2, chosen);
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen[0].expert, 1U);
    EXPECT_EQ(chosen[1].expert, 0U);
    EXPECT_NEAR(chosen[1].weight, 1 / (1 + std::exp(-1.0)), 1e-6);
    EXPECT_NEAR(chosen[0].weight + chosen[1].weight, 1, 1e-6);
}

TEST(TopK, EqualLogitsGoByNumber) {
    std::vector<ExpertChoice> chosen;
    choose_experts(std::vector<float>{1, 1, 1, 1}, {}, 3, chosen);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(chosen[i].expert, i);
}

}  // namespace
}  // namespace rehearse

#include "kernels/cpu/gate.hpp"

#include <algorithm>
#include <numeric>

#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

struct Gate {
    std::int64_t tokens, experts;
    int top_k;
    std::vector<std::int32_t> chosen = poisoned<std::int32_t>(tokens * top_k), load = poisoned<std::int32_t>(experts);
    std::vector<float> weights = poisoned<float>(tokens * top_k);

    Choice choice() { return {{chosen, tokens, top_k}, {weights, tokens, top_k}}; }
};

// The experts of one token by a full sort: descending score, equal ones by number.
std::vector<std::int32_t> sorted(const float* logits, const std::vector<float>& bias, std::int64_t experts) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(experts));
    std::iota(order.begin(), order.end(), 0);
    const auto score = [&](std::int32_t e) {
        return logits[e] + (bias.empty() ? 0 : bias[static_cast<std::size_t>(e)]);
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return score(a) > score(b); });
    return order;
}

void check_gate(std::int64_t tokens, std::int64_t experts, int top_k, bool biased) {
    CpuContext context;
    Gate gate{tokens, experts, top_k};
    const auto logits = drawn<float>("logits", tokens * experts);
    const auto bias = drawn<float>("bias", biased ? experts : 0);
    select_experts(context, {logits, tokens, experts}, bias, gate.choice(), gate.load);
    std::vector<std::int32_t> load(static_cast<std::size_t>(experts));
    for (std::int64_t t = 0; t < tokens; ++t) {
        const auto order = sorted(&logits[static_cast<std::size_t>(t * experts)], bias, experts);
        double total = 0;
        for (int k = 0; k < top_k; ++k) total += std::exp(double{logits[t * experts + order[k]]});
        for (int k = 0; k < top_k; ++k) {
            ASSERT_EQ(gate.chosen[t * top_k + k], order[k]);
            ASSERT_NEAR(gate.weights[t * top_k + k], std::exp(double{logits[t * experts + order[k]]}) / total, 1e-5);
            ++load[order[k]];
        }
    }
    EXPECT_EQ(gate.load, load);
}

TEST(Gate, AgreesWithAFullSort) {
    check_gate(1, 1, 1, false);
    check_gate(17, 3, 3, false);
    check_gate(127, 64, 8, false);
    check_gate(33, 127, 6, true);
    check_gate(5, 256, 8, true);
}

TEST(Gate, EqualLogitsAreChosenByNumber) {
    CpuContext context;
    Gate gate{1, 5, 3};
    const std::vector<float> logits{0.0f, 1.0f, -0.0f, 1.0f, 0.0f};
    select_experts(context, {logits, 1, 5}, {}, gate.choice(), gate.load);
    EXPECT_EQ(gate.chosen, (std::vector<std::int32_t>{1, 3, 0}));
}

TEST(Gate, NaNAndInfinityStillGiveDifferentExperts) {
    CpuContext context;
    Gate gate{1, 4, 4};
    const float nan = not_a_number<float>();
    const std::vector<float> logits{nan, -INFINITY, nan, 1.0f};
    select_experts(context, {logits, 1, 4}, {}, gate.choice(), gate.load);
    EXPECT_EQ(gate.chosen, (std::vector<std::int32_t>{3, 1, 0, 2}));
}

TEST(Gate, LogitsAreTheProduct) {
    CpuContext context;
    Gate gate{7, 5, 2};
    const std::int64_t hidden = 19;
    const auto x = drawn<Bf16>("x", 7 * hidden), w = drawn<Bf16>("w", hidden * 5);
    auto logits = poisoned<float>(7 * 5);
    kernels::gate<Bf16>(context, {x, 7, hidden}, {w, hidden, 5}, {}, {logits, 7, 5}, gate.choice(), gate.load);
    const ExactGemm exact{7, 5, hidden};
    expect_close<float>(logits, [&](std::int64_t i) { return exact.at(x.data(), w.data(), i / 5, i % 5); });
    EXPECT_EQ(std::accumulate(gate.load.begin(), gate.load.end(), 0), 7 * 2);
}

// dL/dlogit of L = sum g w against central differences of the weights in fp64.
TEST(Gate, GradientIsThatOfTheWeights) {
    CpuContext context;
    Gate gate{9, 11, 3};
    const auto logits = drawn<float>("logits", 9 * 11), d_weights = drawn<float>("g", 9 * 3);
    select_experts(context, {logits, 9, 11}, {}, gate.choice(), gate.load);
    auto d_logits = poisoned<float>(9 * 11);
    select_experts_backward(context, gate.choice(), {d_weights, 9, 3}, {d_logits, 9, 11});
    expect_close<float>(d_logits, [&](std::int64_t i) {
        const std::int64_t token = i / 11;
        Exact sum;
        for (int k = 0; k < 3; ++k) {
            const auto at = static_cast<std::size_t>(token * 3 + k);
            if (gate.chosen[at] != i % 11) continue;
            const double w = gate.weights[at];
            sum.add(w * d_weights[at]);
            for (int m = 0; m < 3; ++m) {
                const auto other = static_cast<std::size_t>(token * 3 + m);
                sum.add(-w * gate.weights[other] * d_weights[other]);
            }
        }
        return sum;
    });
}

TEST(Gate, WrongShapesAreRefused) {
    CpuContext context;
    Gate gate{2, 3, 4};
    const auto logits = drawn<float>("logits", 6);
    EXPECT_THROW(select_experts(context, {logits, 2, 3}, {}, gate.choice(), gate.load), InvariantBroken);
    Gate fitting{2, 3, 2};
    const std::vector<float> bias(2);
    EXPECT_THROW(select_experts(context, {logits, 2, 3}, bias, fitting.choice(), fitting.load), InvariantBroken);
    fitting.load.resize(2);
    EXPECT_THROW(select_experts(context, {logits, 2, 3}, {}, fitting.choice(), fitting.load), InvariantBroken);
}

}  // namespace
}  // namespace rehearse::kernels::test

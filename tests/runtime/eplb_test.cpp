#include "runtime/balancer/eplb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

using ::testing::ElementsAreArray;

// The examples in the README of deepseek-ai/EPLB: 12 experts, 16 slots, 4 groups, 2 nodes, 8 GPUs. Loads, slots, and
// max/mean of experts and of GPUs.
struct Example {
    std::vector<double> loads;
    std::vector<std::uint32_t> slots;
    double experts, gpus;
};

TEST(Eplb, PublishedExamples) {
    const Example layer_a{{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86},
                          {5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1}, 2.126, 1.208};
    const Example layer_b{{20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27},
                          {7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1}, 2.045, 1.242};
    for (const Example& layer : {layer_a, layer_b}) {
        const ExpertMap map = balance_experts(layer.loads, {16, 4, 2, 8});
        EXPECT_THAT(map.expert_of_slot(), ElementsAreArray(layer.slots));
        EXPECT_NEAR(max_over_mean(layer.loads), layer.experts, 0.0005);
        EXPECT_NEAR(max_over_mean(map.gpu_load(layer.loads)), layer.gpus, 0.0005);
    }
}

// Random loads and shapes: every expert stands somewhere, replicas go to the loaded, and the fullest GPU is no fuller
// than in the map without replicas by more than a slot's load.
TEST(Eplb, NeverLosesAnExpert) {
    std::uint64_t state = 11;
    for (int round = 0; round < 200; ++round) {
        const auto draw = [&](std::uint64_t n) { return static_cast<std::uint32_t>(splitmix64(state) % n); };
        const std::uint32_t nodes = 1 + draw(4), gpus = nodes * (1 + draw(8)), groups = nodes * (1 + draw(3));
        const std::uint32_t experts = groups * (1 + draw(9));
        const std::uint32_t slots = (experts + gpus - 1) / gpus * gpus + gpus * draw(3);
        if (slots / nodes < experts / nodes) continue;
        std::vector<double> loads;
        for (std::uint32_t i = 0; i < experts; ++i) loads.push_back(std::pow(1 + draw(1000), 2));
        const ExpertMap map = balance_experts(loads, {slots, groups, nodes, gpus}, 3);
        EXPECT_EQ(map.slot_count(), slots);
        EXPECT_EQ(map.version(), 3U);
        double sum = 0, expected = 0;
        for (const double load : map.gpu_load(loads)) sum += load;
        for (std::uint32_t expert = 0; expert < experts; ++expert) {
            EXPECT_GE(map.slots_of(expert).size(), 1U);
            expected += loads[expert];
        }
        EXPECT_NEAR(sum, expected, 1e-9 * expected);
    }
}

TEST(Eplb, RefusesWhatDoesNotDivide) {
    const std::vector<double> loads(12, 1.0);
    EXPECT_THROW(balance_experts(loads, {17, 4, 2, 8}), InputError);
    EXPECT_THROW(balance_experts(loads, {8, 4, 2, 8}), InputError);
    EXPECT_THROW(balance_experts(loads, {16, 5, 2, 8}), InputError);
    EXPECT_THROW(balance_experts({}, {16, 1, 1, 8}), InputError);
}

TEST(ExpertMap, DeltaLeadsFromOneVersionToTheNext) {
    const ExpertMap from = ExpertMap::contiguous(8, 4);
    const ExpertMap to(8, 4, {0, 1, 3, 2, 4, 5, 7, 6}, 1);
    const MapDelta delta = difference(from, to);
    EXPECT_EQ(delta.changes.size(), 4U);
    EXPECT_EQ(delta.bytes(8), 20 + 4 * 4);
    const ExpertMap reached = apply(from, delta);
    EXPECT_TRUE(std::ranges::equal(reached.expert_of_slot(), to.expert_of_slot()));
    EXPECT_EQ(reached.version(), 1U);
    EXPECT_THROW(apply(reached, delta), InvariantBroken);
}

TEST(ExpertMap, RefusesAMapThatLosesAnExpert) {
    EXPECT_THROW(ExpertMap(3, 1, {0, 1, 1}), InputError);
    EXPECT_THROW(ExpertMap(3, 2, {0, 1, 2}), InputError);
    EXPECT_THROW(ExpertMap(2, 1, {0, 2}), InputError);
}

}  // namespace
}  // namespace rehearse

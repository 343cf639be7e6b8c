#include "runtime/balancer/load_balancer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

const MigrationSpec expert_352b{Bytes{352'000'000}, Bytes{2'112'000'000}, Bandwidth{400'000'000'000},
                                SimDuration{5'000'000}};

// Zipf-like counts whose ranking drifts with the step.
std::vector<std::uint64_t> drifting(std::uint32_t experts, std::uint64_t step, std::uint64_t seed) {
    std::vector<std::uint64_t> tokens(experts);
    for (std::uint32_t e = 0; e < experts; ++e) {
        const std::uint32_t rank = (e + static_cast<std::uint32_t>(step / 50 * 3 + seed)) % experts;
        tokens[e] = 100'000 / (rank + 1) + (splitmix64(seed) % 50);
    }
    return tokens;
}

ExpertMap start(std::uint32_t experts, std::uint32_t gpus, std::uint32_t slots) {
    return balance_experts(std::vector<double>(experts, 1.0), {slots, 1, 1, gpus});
}

// Whatever the loads do, each decision leads from the map before it to a map that has every expert, and a replay of the
// deltas by another rank reaches the same map.
TEST(LoadBalancer, EveryRankThatReplaysTheDeltasHasTheSameMap) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const BalancerSpec spec{.period = 25, .window = 20, .top = 8, .spare_slots = 1, .gain_least = 0.01,
                                .cool_down = static_cast<std::uint32_t>(seed % 3 * 10)};
        LoadBalancer balancer(spec, {48, 1, 1, 8}, expert_352b, start(32, 8, 48));
        ExpertMap replayed = balancer.map();
        int decisions = 0;
        for (std::uint64_t step = 0; step < 200; ++step) {
            const auto decision = balancer.after_step(drifting(32, step, seed));
            if (!decision) continue;
            ++decisions;
            replayed = apply(replayed, decision->delta);
            EXPECT_LT(decision->after, decision->before);
            EXPECT_TRUE(std::ranges::equal(replayed.expert_of_slot(), balancer.map().expert_of_slot()));
        }
        EXPECT_GT(decisions, 2) << seed;
    }
}

TEST(LoadBalancer, SlowPlanFollowsTheWindow) {
    const BalancerSpec spec{.period = 10, .window = 10, .top = 0};
    LoadBalancer balancer(spec, {40, 1, 1, 8}, expert_352b, start(32, 8, 40));
    std::vector<std::uint64_t> tokens(32, 100);
    tokens[5] = 4'000;
    for (int step = 1; step < 10; ++step) EXPECT_FALSE(balancer.after_step(tokens)) << step;
    const auto decision = balancer.after_step(tokens);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->scale, BalanceScale::slow);
    EXPECT_EQ(balancer.map().slots_of(5).size(), 9U);  // one of its own and the eight that are over
    // Nine replicas on eight GPUs: one GPU has two of them and three others, of 7,100 tokens on eight GPUs.
    EXPECT_NEAR(decision->after, (2 * 4'000 / 9.0 + 3 * 100) / (7'100 / 8.0), 1e-9);
    EXPECT_FALSE(balancer.after_step(tokens));  // it is balanced now
}

// One step is enough for the fast planner, which touches the spare slots only.
TEST(LoadBalancer, FastPlanReplicatesTheHotExpertIntoSpareSlots) {
    const BalancerSpec spec{.period = 0, .window = 1, .top = 4, .spare_slots = 1};
    LoadBalancer balancer(spec, {40, 1, 1, 8}, expert_352b, start(32, 8, 40));
    const ExpertMap before = balancer.map();
    std::vector<std::uint64_t> tokens(32, 100);
    tokens[5] = 1'000;
    const auto decision = balancer.after_step(tokens);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->scale, BalanceScale::fast);
    EXPECT_GT(balancer.map().slots_of(5).size(), before.slots_of(5).size());
    for (const MapDelta::Change& change : decision->delta.changes) EXPECT_EQ(change.slot % 5, 4U);
}

// A moved expert costs its weights and optimizer state at link rate: 2.464 GB at 50 GB/s are 49.28 ms. The delta of two
// swapped slots goes down a tree of three hops.
TEST(Migration, ChargesWeightsAndOptimizerAtLinkRate) {
    const ExpertMap from = ExpertMap::contiguous(8, 8), to(8, 8, {1, 0, 2, 3, 4, 5, 6, 7}, 1);
    const Migration migration = plan_migration(from, to, expert_352b);
    EXPECT_EQ(migration.moves.size(), 2U);
    EXPECT_EQ(migration.bytes.value, 2 * 2'464'000'000ll);
    EXPECT_EQ(migration.transfer.value, 49'280'000'000ll + 5'000'000);
    EXPECT_EQ(migration.broadcast.value, 3 * (5'000'000 + (Bytes{28} / expert_352b.link).value));
    EXPECT_EQ(plan_migration(from, from, expert_352b).bytes, Bytes{0});
}

// A replica needs the weights alone, and comes from the holder that sends least.
TEST(Migration, AReplicaTakesWeightsOnly) {
    const ExpertMap from(2, 4, {0, 0, 1, 1}), to(2, 4, {0, 0, 1, 0}, 1);
    const Migration migration = plan_migration(from, to, expert_352b);
    ASSERT_EQ(migration.moves.size(), 1U);
    EXPECT_FALSE(migration.moves[0].with_optimizer);
    EXPECT_EQ(migration.bytes, expert_352b.weights);
}

TEST(LoadBalancer, RefusesSpareSlotsThatExpertsNeed) {
    EXPECT_THROW(LoadBalancer({.spare_slots = 2}, {40, 1, 1, 8}, expert_352b, start(32, 8, 40)), InputError);
}

TEST(ChooseRing, LoadedGpusGetShortWays) {
    const std::vector<std::vector<double>> hops{{0, 1, 3, 3}, {1, 0, 3, 3}, {3, 3, 0, 1}, {3, 3, 1, 0}};
    const std::vector<std::vector<std::uint32_t>> rings{{0, 2, 1, 3}, {0, 1, 2, 3}};
    EXPECT_EQ(choose_ring(rings, std::vector<double>{9, 1, 1, 1}, hops), 1U);
}

TEST(HeatMap, ForgetsWhatLeftTheWindow) {
    HeatMap heat(2, 3);
    for (std::uint64_t step = 1; step <= 5; ++step) heat.add(std::vector<std::uint64_t>{step, 10 * step});
    EXPECT_EQ(heat.mean(), (std::vector<double>{4, 40}));
    EXPECT_EQ(heat.last()[1], 50U);
    EXPECT_EQ(heat.steps(), 3U);
}

}  // namespace
}  // namespace rehearse

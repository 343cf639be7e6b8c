// The policies at work: what they leave for a step is conserved, better than without them, and the same every time.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "runtime/comm_pipe/stream_share.hpp"
#include "runtime/moe/expert_policies.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"
#include "tests/models/moe_fixture.hpp"

namespace rehearse {
namespace {

TrainingSpec skewed() {
    TrainingSpec training = sequence_and_experts();
    training.model.layers = 6;
    training.routing.kind = RoutingKind::zipf;
    training.routing.exponent = 0.8;
    return training;
}

PolicyOutcome run(const TrainingSpec& training, const PolicySpec& policies, std::uint64_t seed = 7) {
    return run_expert_policies({training, policies, 8, gigabytes_per_second(160), microseconds(5), seed});
}

double rows(const LayerLoad& load) { return std::accumulate(load.rows.begin(), load.rows.end(), 0.0) / load.ranks; }

PolicySpec balancing() {
    PolicySpec policies;
    policies.warmup_steps = 40;
    policies.balancer.active = Switch::on;
    policies.balancer.slots_per_gpu = 6;
    policies.balancer.spec.period = 20;
    policies.balancer.spec.spare_slots = 1;
    return policies;
}

TEST(MoePolicies, BalancedRoutingLeavesNoLoads) {
    const PolicyOutcome outcome = run(sequence_and_experts(), {});
    EXPECT_TRUE(outcome.step.loads.empty());
    EXPECT_EQ(outcome.step.figures.rank_max_over_mean, 1);
}

TEST(MoePolicies, EveryRowGoesToSomeExpert) {
    for (const PolicySpec& policies : {PolicySpec{}, balancing()}) {
        const PolicyOutcome outcome = run(skewed(), policies);
        ASSERT_EQ(outcome.step.loads.size(), 6U);
        for (const LayerLoad& load : outcome.step.loads) {
            EXPECT_NEAR(rows(load), 1, 1e-5);
            EXPECT_GE(load.exchange, 1);
        }
        for (const std::vector<std::uint32_t>& map : outcome.expert_of_slot)
            EXPECT_EQ(std::set<std::uint32_t>(map.begin(), map.end()).size(), 32U);  // no expert is lost
    }
}

TEST(MoePolicies, TheBalancerEvensTheRanksAndMovesExperts) {
    const ExpertFigures without = run(skewed(), {}).step.figures;
    const PolicyOutcome with = run(skewed(), balancing());
    EXPECT_LT(with.step.figures.rank_max_over_mean, 1 + 0.4 * (without.rank_max_over_mean - 1));
    EXPECT_NEAR(with.step.figures.expert_max_over_mean, without.expert_max_over_mean, 0.05);
    EXPECT_GT(with.step.figures.decisions, 0);
    EXPECT_GT(with.step.figures.migrated_bytes, 0);
    EXPECT_GT(with.step.migration_s, 0);
}

// The load-aware calibrator and the sign bias both act on the choice: experts get closer to each other.
TEST(MoePolicies, CalibratorsEvenTheExperts) {
    const double without = run(skewed(), {}).step.figures.expert_max_over_mean;
    PolicySpec policies;
    policies.warmup_steps = 200;
    policies.calibrator.kind = CalibratorKind::load_aware;
    EXPECT_LT(run(skewed(), policies).step.figures.expert_max_over_mean, 1 + 0.6 * (without - 1));
    policies.calibrator.kind = CalibratorKind::sign_bias;
    policies.calibrator.rate = 0.02;
    EXPECT_LT(run(skewed(), policies).step.figures.expert_max_over_mean, 1 + 0.2 * (without - 1));
}

TEST(MoePolicies, CapacityBoundsEveryRankAndCountsWhatItDrops) {
    TrainingSpec training = skewed();
    training.capacity = {1.1, CapacityScope::gpu};
    const PolicyOutcome outcome = run(training, {});
    double kept = 0;
    for (const LayerLoad& load : outcome.step.loads) {
        for (std::uint32_t rank = 0; rank < load.ranks; ++rank)
            EXPECT_LE(load.rank_rows(rank), 3380.0 / 3072 + 1e-5);  // rounded up
        kept += rows(load) / 6;
    }
    EXPECT_NEAR(outcome.step.figures.dropped, 1 - kept, 1e-3);
    EXPECT_GT(outcome.step.figures.dropped, 0.01);
    EXPECT_EQ(outcome.step.figures.steps_over, 1);
}

TEST(MoePolicies, EqualInputsGiveEqualOutcomes) {
    const PolicyOutcome first = run(skewed(), balancing()), again = run(skewed(), balancing());
    EXPECT_EQ(first.expert_of_slot, again.expert_of_slot);
    for (std::size_t layer = 0; layer < 6; ++layer)
        EXPECT_EQ(first.step.loads[layer].rows, again.step.loads[layer].rows);
    EXPECT_NE(run(skewed(), balancing(), 8).step.loads[0].rows, first.step.loads[0].rows);
}

TEST(MoePolicies, TooFewSlotsAreRefused) {
    PolicySpec policies = balancing();
    policies.balancer.slots_per_gpu = 4;  // as many as experts, and one of them spare
    EXPECT_THROW(run(skewed(), policies), InputError);
}

// 1 - 0.6 / q of a dispatch can hide: the first chunk is what the ring holds at its threshold, for any split over
// peers.
TEST(StreamShare, IsThresholdOverRefills) {
    const Stream draw(5, "test.stream");
    for (const std::int64_t refills : {1, 2, 6, 20}) {
        for (std::uint64_t trial = 0; trial < 5; ++trial) {
            std::vector<std::uint32_t> peers(8);
            for (std::size_t peer = 0; peer < 8; ++peer)
                peers[peer] = static_cast<std::uint32_t>(draw.uniform(trial, peer) * 4000) + 500;
            EXPECT_NEAR(first_share({refills, 0.6}, peers), 0.6 / static_cast<double>(refills), 0.005);
        }
    }
    EXPECT_EQ(first_share({4, 0.6}, std::vector<std::uint32_t>(8)), 1);
}

}  // namespace
}  // namespace rehearse

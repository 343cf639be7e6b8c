// The policies on the steps before the simulated one, and what they leave for it.
#include "runtime/moe/expert_policies.hpp"

#include <gtest/gtest.h>

#include "runtime/comm_pipe/stream_share.hpp"

namespace rehearse {
namespace {

// 64 experts on 8 ranks, top-2, 8 x 1,024 tokens a step; 3 experts take half of them.
struct Job {
    Job() {
        training.model = {.kind = ModelKind::moe, .layers = 4, .hidden = 256, .heads = 8, .ffn = 1024, .vocab = 1024,
                          .sequence = 1024};
        training.model.experts = {.routed = 64, .shared = 0, .top_k = 2, .ffn = 512, .dense_layers = 1};
        training.parallel.data = 8;
        training.parallel.expert = 8;
        training.batch_global = 8;
        training.routing.kind = RoutingKind::skew;
        training.routing.groups = {{3, 0.5}};
        policies.warmup_steps = 20;
    }
    PolicyOutcome run() const {
        return run_expert_policies({training, policies, 8, gigabits_per_second(200), picoseconds(5'000'000), 1, pace});
    }
    TrainingSpec training;
    PolicySpec policies;
    LayerPace pace{picoseconds(500'000'000), picoseconds(1'000'000'000)};
};

// The rank with one of the three has 1/6 of all rows at least: 8/6 of the mean, and the expert itself 64/6.
TEST(ExpertPolicies, LoadsAreThoseOfTheRouting) {
    const ExpertStep step = Job().run().step;
    EXPECT_EQ(step.loads.size(), 4U);
    EXPECT_EQ(step.loads[0].ranks, 0U);  // a dense layer
    EXPECT_EQ(step.loads[1].ranks, 8U);
    EXPECT_NEAR(step.figures.expert_max_over_mean, 64.0 / 6, 0.4);
    EXPECT_GT(step.figures.rank_max_over_mean, 8.0 / 6);
    EXPECT_EQ(step.figures.dropped, 0);
    EXPECT_EQ(step.page_wait_s, 0);
    double rows = 0;
    for (const float share : step.loads[1].rows) rows += static_cast<double>(share);
    EXPECT_NEAR(rows, 8, 1e-5);  // ranks, in units of a mean rank
}

TEST(ExpertPolicies, BalancedRoutingLeavesNothingToDo) {
    Job job;
    job.training.routing.kind = RoutingKind::balanced;
    const PolicyOutcome outcome = job.run();
    EXPECT_TRUE(outcome.step.loads.empty());
    EXPECT_EQ(outcome.step.figures.rank_max_over_mean, 1);
}

TEST(ExpertPolicies, CalibratorAndBalancerEvenTheRanks) {
    Job job;
    const ExpertFigures none = job.run().step.figures;
    job.policies.calibrator.kind = CalibratorKind::load_aware;
    EXPECT_LT(job.run().step.figures.expert_max_over_mean, 0.5 * none.expert_max_over_mean);
    job.policies.calibrator.kind = CalibratorKind::none;
    job.policies.balancer.active = Switch::on;
    job.policies.balancer.spec.spare_slots = 1;
    const ExpertStep balanced = job.run().step;
    EXPECT_LT(balanced.figures.rank_deviation, 0.5 * none.rank_deviation);
    EXPECT_GT(balanced.figures.decisions, 0);
    EXPECT_GT(balanced.migration_s, 0);
}

// A rank takes at most its even share: what is above it, and only that, is dropped.
TEST(ExpertPolicies, CapacityCutsTheBusiestRank) {
    Job job;
    job.training.capacity = {1, CapacityScope::gpu};
    const ExpertFigures figures = job.run().step.figures;
    EXPECT_GT(figures.dropped, 0);
    EXPECT_EQ(figures.steps_over, 1);
    EXPECT_LT(figures.rank_max_over_mean, 1 / (1 - figures.dropped) + 0.01);
}

TEST(ExpertPolicies, ThePagerRunsOnTheBusiestRank) {
    Job job;
    job.policies.pager.active = Switch::on;
    job.policies.pager.resident = 0.5;
    job.policies.pager.spec.page = Bytes{1 << 20};
    job.policies.pager.spec.migrate_after = 1 << 20;
    const ExpertStep step = job.run().step, again = job.run().step;
    EXPECT_EQ(step.resident_experts, 0.5);
    EXPECT_GT(step.figures.page_misses, 0);
    EXPECT_EQ(step.figures.page_migrations, 0);
    EXPECT_EQ(step.page_wait_s, again.page_wait_s);
    job.policies.pager.pcie_alone = job.policies.pager.pcie_duplex = gigabits_per_second(10);
    EXPECT_GT(job.run().step.page_wait_s, step.page_wait_s);  // a slower link
}

// An expert of 0.79 MB: the weights of the 24 experts of a rank, which balanced routing uses as well.
TEST(ExpertPolicies, BalancedRoutingIsPagedToo) {
    Job job;
    job.training.routing.kind = RoutingKind::balanced;
    job.policies.pager.active = Switch::on;
    job.policies.pager.resident = 0.5;
    job.policies.pager.spec.page = Bytes{1 << 20};
    EXPECT_GT(job.run().step.figures.page_misses, 0);
}

// q refills and the threshold 0.6: the first chunk comes after 0.6 / q of the rows, whoever sends them.
TEST(StreamShare, IsTheThresholdOverTheRefills) {
    const std::vector<std::uint32_t> even(8, 3'000), uneven{0, 100, 0, 12'000, 3'900, 8'000, 0, 0};
    for (const std::int64_t refills : {1, 2, 6}) {
        EXPECT_NEAR(first_share({refills, 0.6}, even), 0.6 / static_cast<double>(refills), 1e-3) << refills;
        EXPECT_LE(first_share({refills, 0.6}, uneven), 0.6 / static_cast<double>(refills) + 1e-3) << refills;
    }
}

}  // namespace
}  // namespace rehearse

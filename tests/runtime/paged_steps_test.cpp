// The pager on the steps of a rank. C is the time of one page over PCIe, alone.
#include "runtime/moe/paged_steps.hpp"

#include <gtest/gtest.h>

#include "runtime/moe/expert_policies.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {
namespace {

constexpr Bytes page{64ll << 20};
constexpr double page_s = (64 << 20) / 24.75e9;  // C; 198 Gbps

PagerPolicy policy_of(double resident) {
    PagerPolicy policy;
    policy.active = Switch::on;
    policy.resident = resident;
    policy.spec.page = page;
    policy.spec.standby_at = 2;  // nothing is loaded ahead of the gate
    policy.gpus_per_switch = 1;
    return policy;
}

PagedRank rank_of(SimDuration layer, std::int64_t micro_batches = 1) {
    return {page, micro_batches, {layer, layer}};
}

std::vector<SlotRows> steps_of(std::size_t steps, std::size_t layers, std::size_t slots, float rows = 100) {
    return std::vector<SlotRows>(steps, SlotRows(layers, std::vector<float>(slots, rows)));
}

const SimDuration slow = picoseconds(1'000'000'000'000);  // a second: every copy but the first hides behind it

// From nothing: the pages of the first two layers are asked for together and arrive after 2 C, the others hide.
TEST(PagedSteps, AColdStepWaitsForTheFirstPages) {
    const PagedStep step = run_paged_steps(policy_of(1), rank_of(slow), steps_of(1, 4, 1), 1);
    EXPECT_NEAR(step.wait.seconds(), 2 * page_s, 1e-6);
    EXPECT_EQ(step.counters.misses, 4U);
    EXPECT_EQ(step.counters.faults, 1U);
    EXPECT_EQ(step.counters.uses, 8U);
}

// Two GPUs behind one switch have half of its link each.
TEST(PagedSteps, GpusBehindASwitchShareItsLink) {
    PagerPolicy policy = policy_of(1);
    policy.gpus_per_switch = 2;
    EXPECT_NEAR(run_paged_steps(policy, rank_of(slow), steps_of(1, 4, 1), 1).wait.seconds(), 4 * page_s, 1e-6);
}

TEST(PagedSteps, WithAllResidentOnlyTheFirstStepMisses) {
    const PagedStep step = run_paged_steps(policy_of(1), rank_of(slow), steps_of(2, 4, 3), 1);
    EXPECT_EQ(step.counters.misses, 0U);
    EXPECT_EQ(step.counters.evictions, 0U);
    EXPECT_EQ(step.wait, SimDuration{});
}

// Experts of one and a half pages: the layers 0 and 1 hold the pages {0, 1} and {1, 2}, each used forward and backward.
TEST(PagedSteps, ExpertsSpanAndSharePages) {
    PagedRank rank = rank_of(slow);
    rank.expert = Bytes{page.value * 3 / 2};
    EXPECT_EQ(run_paged_steps(policy_of(1), rank, steps_of(1, 2, 1), 1).counters.uses, 8U);
}

// 3 rows in 8 micro-batches are 3 visits each way; no rows are none.
TEST(PagedSteps, AnExpertIsUsedWhereItHasRows) {
    EXPECT_EQ(run_paged_steps(policy_of(1), rank_of(slow, 8), steps_of(1, 1, 1, 3), 1).counters.uses, 6U);
    EXPECT_EQ(run_paged_steps(policy_of(1), rank_of(slow, 8), steps_of(1, 1, 1, 0), 1).counters.uses, 0U);
}

// Every expert is used forward and backward in every step. A third of the pages stay, so that two thirds of them cross
// the link at least once a step, and the step cannot take less than they do.
TEST(PagedSteps, WhatIsUsedEveryStepCrossesTheLinkEveryStep) {
    const std::int64_t layers = 12;
    const SimDuration quick = picoseconds(1'000'000'000);  // 1 ms
    const PagedStep step = run_paged_steps(policy_of(1.0 / 3), rank_of(quick), steps_of(6, layers, 1), 1);
    EXPECT_GE(step.counters.loads, 8U);
    const double span = step.wait.seconds() + 2 * layers * quick.seconds();
    EXPECT_GE(span, static_cast<double>(step.counters.loads) * page_s * 0.9);  // some may have begun in the step before
    EXPECT_EQ(step.counters.faults, step.counters.waits + step.counters.migrations + step.counters.drops);
    EXPECT_EQ(step.counters.drops, 0U);
}

TEST(PagedSteps, AFasterLinkWaitsLessAndEqualInputsDecideAlike) {
    const auto steps = steps_of(6, 12, 2);
    const PagedRank rank = rank_of(picoseconds(5'000'000'000));
    PagerPolicy policy = policy_of(0.5);
    const PagedStep first = run_paged_steps(policy, rank, steps, 1), again = run_paged_steps(policy, rank, steps, 1);
    EXPECT_EQ(first.wait, again.wait);
    EXPECT_EQ(first.counters.misses, again.counters.misses);
    policy.pcie_alone = policy.pcie_duplex = gigabits_per_second(4000);
    EXPECT_LT(run_paged_steps(policy, rank, steps, 1).wait, first.wait);
}

// Two pages of budget, two experts a layer, and the next layer's are asked for as well: never room for all of them.
TEST(PagedSteps, DropsWhatCanNeverFindRoom) {
    EXPECT_GT(run_paged_steps(policy_of(0.25), rank_of(slow), steps_of(1, 4, 2), 1).counters.drops, 0U);
}

TEST(PagedSteps, RefusesAPageLargerThanItsBudget) {
    EXPECT_THROW(run_paged_steps(policy_of(0.2), rank_of(slow), steps_of(1, 4, 1), 1), InputError);
}

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

TEST(PagedSteps, ThePagerRunsOnTheBusiestRank) {
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
TEST(PagedSteps, BalancedRoutingIsPagedToo) {
    Job job;
    job.training.routing.kind = RoutingKind::balanced;
    job.policies.pager.active = Switch::on;
    job.policies.pager.resident = 0.5;
    job.policies.pager.spec.page = Bytes{1 << 20};
    EXPECT_GT(job.run().step.figures.page_misses, 0);
}

}  // namespace
}  // namespace rehearse

// Live runs of small workloads: what each step must do and how its times add up. Speed is no matter here.
#include <gtest/gtest.h>

#include <numeric>
#include <string_view>

#include "runtime/live/live_executor.hpp"

namespace rehearse {
namespace {

TrainingSpec small_training() {
    TrainingSpec training;
    training.model.kind = ModelKind::moe;
    training.model.layers = 2;
    training.model.hidden = 64;
    training.model.heads = 4;
    training.model.vocab = 128;
    training.model.sequence = 32;
    training.model.experts.routed = 4;
    training.model.experts.top_k = 2;
    training.model.experts.ffn = 96;
    training.batch_global = 4;
    training.parallel.data = 2;
    training.parallel.expert = 2;
    training.technique.operators = OperatorSet::efficient;
    training.technique.exchange = ExchangeChoice::direct;
    training.gradient_bytes = 4;
    return training;
}

TEST(LiveExecutor, StepsAddUp) {
    const PolicySpec policies;
    LiveExecutor executor(policies, {.warmup_steps = 1, .steps = 4, .oversample = 2}, on_threads(2));
    const Workload workload = build_workload(small_training());
    const Timeline timeline = executor.execute(workload);
    ASSERT_EQ(executor.report().step_seconds.size(), 4u);
    ASSERT_EQ(timeline.parts.size(), 2u);
    for (const PartTimes& parts : timeline.parts) {
        SimDuration total;
        for (const SimDuration part : parts) total += part;
        EXPECT_EQ(total.value, timeline.end.value);
    }
}

// A gate reads tokens wherever dense layers stand before it: with balanced routing every expert gets the same.
TEST(LiveExecutor, TokensReachGatesBehindDenseLayers) {
    TrainingSpec training = small_training();
    training.model.layers = 3;
    training.model.ffn = 80;
    training.model.experts.dense_layers = 1;
    const PolicySpec policies;
    LiveExecutor executor(policies, {.warmup_steps = 0, .steps = 1, .oversample = 1}, on_threads(2));
    executor.execute(build_workload(training));
    const LiveReport& report = executor.report();
    int products = 0;
    for (std::size_t i = 0; i < report.operations.size(); ++i) {
        if (std::string_view(report.operations[i].name) != "expert up") continue;
        ++products;
        EXPECT_EQ(report.times[0][i].rows, report.times[1][i].rows) << "layer " << report.operations[i].layer;
        EXPECT_GT(report.times[0][i].rows, 0);
    }
    EXPECT_EQ(products, 2 * 2);  // layers with experts x micro-batches
}

}  // namespace
}  // namespace rehearse

// FLOPs per token: 72 l h^2 (1 + s_eff / (6 h) + V / (12 l h)); 175B 1.0774e12 and 530B 3.2316e12 (full attention).
#include "models/workload/flops.hpp"

#include <gtest/gtest.h>

#include "models/workload/memory.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {
namespace {

TrainingSpec megascale_175b() {
    TrainingSpec training;
    training.model = {.layers = 96, .hidden = 12288, .heads = 128, .ffn = 0, .vocab = 64000, .sequence = 2048};
    training.batch_global = 768;
    training.parallel.tensor = 8;
    training.parallel.pipeline = 8;
    training.parallel.virtual_stages = 6;
    training.parallel.data = 4;
    training.parallel.sequence = Switch::on;
    training.parallel.zero = 1;
    return training;
}

TEST(ModelFlops, PublishedModels) {
    TrainingSpec training = megascale_175b();
    EXPECT_NEAR(model_flops_per_token(training, AttentionCount::full), 1.0774e12, 1e8);
    training.model = {.layers = 105, .hidden = 20480, .heads = 160, .ffn = 0, .vocab = 64000, .sequence = 2048};
    EXPECT_NEAR(model_flops_per_token(training, AttentionCount::full), 3.2316e12, 1e8);
}

TEST(ModelFlops, WindowCountsTwiceTheMeanAttendedLength) {
    const ModelSpec model = megascale_175b().model;
    // First w tokens attend to w / 2 on average, the others to w: 2 (w - w^2 / (2 s)).
    EXPECT_DOUBLE_EQ(effective_sequence(model, 768), 2 * (768 - 768.0 * 768 / 4096));
    EXPECT_DOUBLE_EQ(effective_sequence(model, 0), 2048);
    EXPECT_DOUBLE_EQ(effective_sequence(model, 4096), 2048);
    EXPECT_DOUBLE_EQ(effective_sequence(model, 2048), 2048);
}

TEST(ModelFlops, RecomputationAddsToHardwareFlopsOnly) {
    TrainingSpec training = megascale_175b();
    const double model = model_flops_per_token(training, AttentionCount::windowed);
    EXPECT_DOUBLE_EQ(hardware_flops_per_token(training), model);
    training.recompute = Recompute::full;
    const double head = 2.0 * 12288 * 64000;
    EXPECT_NEAR(hardware_flops_per_token(training), model + (model / 3 - head), 1);
    EXPECT_DOUBLE_EQ(model_flops_per_token(training, AttentionCount::windowed), model);
}

// What the backward pass has to compute again: 4 s h per layer and token (scores and context) where attention keeps its
// scores, nothing where it keeps none. The works agree: the operators of a backward pass with and without it.
TEST(ModelFlops, SelectiveRecomputationCountsWhatIsSimulated) {
    for (const OperatorSet operators : {OperatorSet::unfused, OperatorSet::fused, OperatorSet::efficient}) {
        TrainingSpec none = megascale_175b();
        none.technique.operators = operators;
        TrainingSpec selective = none;
        selective.recompute = Recompute::selective;
        const double more = hardware_flops_per_token(selective) - hardware_flops_per_token(none);
        EXPECT_NEAR(more, operators == OperatorSet::efficient ? 0 : 4.0 * 2048 * 12288 * 96, 1e3);
        const auto operator_count = [](const TrainingSpec& training) {
            std::size_t count = 0;
            for (const Segment& segment : chunk_work(training, Phase::backward, {0, 2}, {}).segments)
                count += segment.operators.size();
            return count;
        };
        EXPECT_EQ(operator_count(selective) > operator_count(none), more > 0);
    }
}

TEST(Memory, ShardsAndSchedule) {
    const TrainingSpec training = megascale_175b();
    const double parameters = parameters_per_rank(training, {0, 12}).dense + embedding_parameters_per_rank(training);
    const MemoryReport report = estimate_memory(training);
    EXPECT_EQ(report.stage, 0u);
    EXPECT_NEAR(static_cast<double>(report.weights.value), 2 * parameters, 2);
    EXPECT_NEAR(static_cast<double>(report.optimizer.value), 12 * parameters / 4, 2);
    // Stage 0 holds 2 (p - 1) + (v - 1) p + 1 = 55 chunks of two layers.
    TrainingSpec full = training;
    full.recompute = Recompute::full;
    EXPECT_LT(estimate_memory(full).activations, report.activations);
    TrainingSpec shallow = training;
    shallow.parallel.virtual_stages = 1;
    EXPECT_LT(estimate_memory(shallow).activations, report.activations);
    TrainingSpec more_data = training;
    more_data.parallel.data = 8;
    more_data.batch_global = 1536;
    EXPECT_LT(estimate_memory(more_data).optimizer, report.optimizer);
}

TEST(Memory, ParameterCountOfOneRankTimesRanksIsTheModel) {
    const TrainingSpec training = megascale_175b();
    // 64 ranks; row biases and norms are repeated in the tensor group, the embedding at both ends of the pipeline.
    const double sum = 8 * parameters_per_rank(training, {0, 96}).dense + 8 * embedding_parameters_per_rank(training);
    EXPECT_NEAR(sum, training.model.parameters(), 1e-3 * sum);
}

}  // namespace
}  // namespace rehearse

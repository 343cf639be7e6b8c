#include "models/workload/memory.hpp"

#include <algorithm>
#include <cmath>

#include "models/workload/moe/dual_memory.hpp"
#include "models/workload/moe/moe_memory.hpp"
#include "models/workload/schedule.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {

namespace {

constexpr double weight_bytes = 2, gradient_bytes = 4, state_bytes = 12;  // mixed-precision Adam

// Activations that one layer keeps for one micro-batch on one rank. Korthikanti et al. (MLSys'23), table 2:
// s b h (10 + 24/t + 5 a s / (h t)) without sequence parallelism, everything divided by t with it; selective
// recomputation and fused attention drop the 5 a s / (h t) term; full recomputation keeps the 2 s b h input only.
double layer_activation_bytes(const TrainingSpec& training) {
    const ModelSpec& model = training.model;
    if (model.kind == ModelKind::moe) return moe_layer_activation_bytes(training, model.layers - 1, training.recompute);
    const double t = static_cast<double>(training.parallel.tensor);
    const double s = static_cast<double>(model.sequence / training.parallel.context);
    const double sbh = s * static_cast<double>(training.micro_batch * model.hidden);
    const bool sequence_parallel = is_on(training.parallel.sequence);
    if (training.recompute == Recompute::full) return 2 * sbh / (sequence_parallel ? t : 1);
    const bool keeps_scores = training.recompute == Recompute::none &&
                              training.technique.operators != OperatorSet::efficient;
    const double scores = keeps_scores ? 5 * static_cast<double>(model.heads * model.sequence) /
                                             (static_cast<double>(model.hidden) * t)
                                       : 0;
    return sbh * ((sequence_parallel ? 34 / t : 10 + 24 / t) + scores);
}

// Most micro-batch chunks whose activations a stage holds at once.
double chunks_in_flight(const TrainingSpec& training, std::uint32_t stage) {
    const auto p = static_cast<std::uint32_t>(training.parallel.pipeline);
    const auto v = static_cast<std::uint32_t>(training.parallel.virtual_stages);
    const auto m = static_cast<std::uint32_t>(training.micro_batches());
    if (v > 1 && m % p != 0) return static_cast<double>(m * v);
    return std::min<double>(build_schedule(stage, p, v, m).warmup + 1, static_cast<double>(m * v));
}

MemoryReport stage_memory(const TrainingSpec& training, std::uint32_t stage, ExpertMemory experts) {
    if (training.parallel.is_dual()) return dual_stage_memory(training, stage, experts);
    const ParallelSpec& parallel = training.parallel;
    const double p = static_cast<double>(parallel.pipeline), v = static_cast<double>(parallel.virtual_stages);
    const bool moe = training.model.kind == ModelKind::moe;
    const std::int64_t per_stage = (training.model.layers + parallel.pipeline - 1) / parallel.pipeline;
    const double layers = static_cast<double>(moe ? per_stage : training.model.layers) / (moe ? 1 : p);
    const double shards = static_cast<double>(data_shards(parallel));
    const double expert_state = state_bytes / static_cast<double>(parallel.zero >= 1 ? expert_shards(parallel) : 1);
    const bool first = stage == 0, last = stage + 1 == static_cast<std::uint32_t>(parallel.pipeline);
    // Of kind moe, a run of layers with experts: the fullest a stage can have.
    const std::int64_t begin = moe ? training.model.layers - per_stage : 0;
    const ParameterShare share = parameters_per_rank(training, {begin, moe ? per_stage : training.model.layers});
    double dense = moe ? share.dense : share.dense / p;
    if (first || last) dense += embedding_parameters_per_rank(training);
    const double parameters = dense + experts.gradients * share.experts;

    const auto bytes = [](double value) { return Bytes{std::llround(value)}; };
    MemoryReport report;
    report.stage = stage;
    report.weights = bytes(weight_bytes * (dense + experts.weights * share.experts));
    report.gradients = bytes(gradient_bytes * parameters / (parallel.zero >= 2 && v * p == 1 ? shards : 1));
    report.optimizer = bytes(state_bytes * dense / (parallel.zero >= 1 ? shards : 1) + expert_state * share.experts);
    report.activations = bytes(layer_activation_bytes(training) * layers / v * chunks_in_flight(training, stage));
    if (moe) {  // gradients of one layer's activations, and the layer itself where it is computed again
        const double whole = moe_layer_activation_bytes(training, training.model.layers - 1, Recompute::none);
        report.activations += bytes(whole * (training.recompute == Recompute::none ? 1 : 2));
    }
    if (training.recompute == Recompute::full && !moe) {  // one layer is whole again while it is recomputed
        TrainingSpec whole = training;
        whole.recompute = Recompute::none;
        report.activations += bytes(layer_activation_bytes(whole));
    }
    if (last) {  // logits in half precision and fp32, and their gradient
        const double tokens = static_cast<double>(training.micro_batch * training.model.sequence / parallel.context);
        report.workspace = bytes(8 * tokens * static_cast<double>(training.model.vocab / parallel.tensor));
    }
    return report;
}

}  // namespace

MemoryReport estimate_memory(const TrainingSpec& training, ExpertMemory experts) {
    MemoryReport fullest = stage_memory(training, 0, experts);
    for (std::uint32_t stage = 1; stage < static_cast<std::uint32_t>(training.parallel.pipeline); ++stage) {
        const MemoryReport report = stage_memory(training, stage, experts);
        if (report.total() > fullest.total()) fullest = report;
    }
    return fullest;
}

}  // namespace rehearse

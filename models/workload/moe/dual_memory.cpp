#include "models/workload/moe/dual_memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/workload/dual_pipe.hpp"
#include "models/workload/moe/moe_memory.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {

namespace {

constexpr double weight_bytes = 2, gradient_bytes = 4, state_bytes = 12;  // as memory.hpp has them

Bytes bytes(double value) { return Bytes{std::llround(value)}; }

double chunk_bytes(const TrainingSpec& training, LayerRange layers) {
    double sum = 0;
    for (std::int64_t layer = layers.first; layer < layers.first + layers.count; ++layer)
        sum += moe_layer_activation_bytes(training, layer, training.recompute);
    return sum;
}

double most_kept(const std::vector<DualPass>& passes, const std::array<double, 2>& of_chunk) {
    double kept = 0, most = 0;
    for (const DualPass& pass : passes) {
        if (pass.has_forward()) kept += of_chunk[pass.chunk];
        most = std::max(most, kept);
        if (pass.has_weights()) kept -= of_chunk[pass.backward_chunk()];
    }
    return most;
}

}  // namespace

MemoryReport dual_stage_memory(const TrainingSpec& training, std::uint32_t rank, ExpertMemory experts) {
    const ParallelSpec& parallel = training.parallel;
    const auto stages = static_cast<std::uint32_t>(parallel.pipeline);
    const std::int64_t last_layer = training.model.layers - 1;
    ParameterShare held;
    std::array<double, 2> of_chunk{};
    MemoryReport report;
    report.stage = rank;
    for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
        const std::uint32_t at = model_stage_of(rank, stages, chunk);
        const LayerRange layers = chunk_layers(training, at);
        const ParameterShare share = parameters_per_rank(training, layers);
        held.dense += share.dense;
        held.experts += share.experts;
        if (at == 0 || at + 1 == stages) held.dense += embedding_parameters_per_rank(training);
        of_chunk[chunk] = chunk_bytes(training, layers);
        if (at + 1 < stages) continue;  // logits in half precision and fp32, and their gradient
        const auto tokens = static_cast<double>(training.micro_batch * training.model.sequence);
        const std::int64_t logits = (1 + training.model.extra_tokens) * training.model.vocab;
        report.workspace = bytes(8 * tokens * static_cast<double>(logits));
    }
    const auto shards = [&](std::int64_t ranks) { return parallel.zero >= 1 ? static_cast<double>(ranks) : 1; };
    report.weights = bytes(weight_bytes * (held.dense + experts.weights * held.experts));
    report.gradients = bytes(gradient_bytes * (held.dense + experts.gradients * held.experts));
    report.optimizer = bytes(state_bytes * (held.dense / shards(data_shards(parallel)) +
                                            held.experts / shards(expert_shards(parallel))));
    // Beside what is kept, the layers at work: one forward, and one backward with its gradients.
    const double working = moe_layer_activation_bytes(training, last_layer, Recompute::none);
    report.activations = bytes(most_kept(build_dual_pipe(rank, stages, static_cast<std::uint32_t>(
                                             training.micro_batches())), of_chunk) + 2 * working);
    return report;
}

}  // namespace rehearse

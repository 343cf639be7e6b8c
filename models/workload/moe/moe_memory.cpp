#include "models/workload/moe/moe_memory.hpp"

#include "models/workload/moe/moe_model.hpp"

namespace rehearse {

namespace {

constexpr std::int64_t gpus_per_node = 8;

double real(std::int64_t value) { return static_cast<double>(value); }

double unit_bytes(const TrainingSpec& training) {
    const ParallelSpec& parallel = training.parallel;
    return 2 * real(training.micro_batch * training.model.sequence * training.model.hidden) /
           real(parallel.tensor * parallel.context);
}

// Of the dense MLP: its gathered input is gathered again in backward; SwiGLU keeps 3 f, or 2 f.
double mlp_units(const TrainingSpec& training, Recompute recompute) {
    const double f = real(training.model.ffn_size()) / real(training.model.hidden);
    return (recompute == Recompute::selective ? 2 : 3) * f;
}

// An all-gather over up to a node of ranks; beyond that only the routed rows arrive.
double gathered_copies(const TrainingSpec& training) {
    const ParallelSpec& parallel = training.parallel;
    if (parallel.expert > gpus_per_node) return real(training.model.experts.top_k);
    return real(parallel.expert > 1 ? parallel.expert : parallel.tensor);
}

double expert_units(const TrainingSpec& training, Recompute recompute) {
    const ModelSpec& model = training.model;
    const double f = real(model.expert_ffn()) / real(model.hidden), k = real(model.experts.top_k);
    const double shared = f * real(model.experts.shared), width = real(training.parallel.expert_width());
    if (recompute == Recompute::selective) return 2 * k * f + 2 * shared;
    return 2 * gathered_copies(training) + 2 * k * width + 3 * k * f + 3 * shared;
}

}  // namespace

double moe_layer_activation_bytes(const TrainingSpec& training, std::int64_t layer, Recompute recompute) {
    if (recompute == Recompute::full) return unit_bytes(training);  // the layer's input
    const double m = real(training.model.heads) / real(training.model.key_heads());
    const double block = recompute == Recompute::selective ? 4 + 2 / m : 12 + 5 / m;
    const double mlp = has_experts(training.model, layer) ? expert_units(training, recompute)
                                                          : mlp_units(training, recompute);
    return unit_bytes(training) * (block + mlp);
}

}  // namespace rehearse

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

// Kernels that gather, scatter and multiply at once keep all tokens of the group; an all-to-all brings the routed rows.
double gathered_copies(const TrainingSpec& training) {
    const ParallelSpec& parallel = training.parallel;
    if (parallel.expert == 1) return real(parallel.tensor);
    const bool gathers = is_on(training.technique.overlap_tiles) && parallel.expert <= gpus_per_node;
    return real(gathers ? parallel.expert : training.model.experts.top_k);
}

double expert_units(const TrainingSpec& training, Recompute recompute) {
    const ModelSpec& model = training.model;
    const double f = real(model.expert_ffn()) / real(model.hidden), k = real(model.experts.top_k);
    const double shared = f * real(model.experts.shared), width = real(training.parallel.expert_width());
    if (recompute == Recompute::selective) return 2 * k * f + 2 * shared;
    return 2 * gathered_copies(training) + 2 * k * width + 3 * k * f + 3 * shared;
}

// Under DualPipe, per token: layer input and residual between the blocks in half precision, the latents (or queries,
// keys and values), the attention's result; in the precision of products the dispatched rows, which are not sent again,
// and the inputs of SwiGLU. Without recomputation also the norms' results, queries, keys and values, and SwiGLU's
// results.
double dual_layer_bytes(const TrainingSpec& training, std::int64_t layer, Recompute recompute) {
    const ModelSpec& model = training.model;
    const double h = real(model.hidden), half = 2;
    const double element = training.precision == TrainingPrecision::fp8 ? 1 : half;
    const std::vector<MatrixShape> in = input_projections(model);
    const bool experts = has_experts(model, layer), keeps_all = recompute == Recompute::none;
    double values = 2 * h + in.front().out + output_projection(model).in;
    if (keeps_all) values += 2 * h;
    for (std::size_t i = 1; keeps_all && i < in.size(); ++i) values += in[i].out;
    const double routed = experts ? real(model.experts.top_k) : 0;
    const double inner = experts ? (routed + real(model.experts.shared)) * real(model.expert_ffn())
                                 : real(model.ffn_size());
    const double operands = routed * h + inner * (keeps_all ? 3 : 2);
    return real(training.micro_batch * model.sequence) * (half * values + element * operands);
}

}  // namespace

double moe_layer_activation_bytes(const TrainingSpec& training, std::int64_t layer, Recompute recompute) {
    if (training.parallel.is_dual()) return dual_layer_bytes(training, layer, recompute);
    if (recompute == Recompute::full) return unit_bytes(training);  // the layer's input
    const double m = real(training.model.heads) / real(training.model.key_heads());
    const double block = recompute == Recompute::selective ? 4 + 2 / m : 12 + 5 / m;
    const double mlp = has_experts(training.model, layer) ? expert_units(training, recompute)
                                                          : mlp_units(training, recompute);
    return unit_bytes(training) * (block + mlp);
}

}  // namespace rehearse

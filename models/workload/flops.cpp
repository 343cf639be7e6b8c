#include "models/workload/flops.hpp"

#include <algorithm>

#include "models/workload/moe/moe_model.hpp"

namespace rehearse {

double effective_sequence(const ModelSpec& model, std::int64_t window) {
    const double s = static_cast<double>(model.sequence);
    if (window <= 0 || window >= model.sequence) return s;
    const double w = static_cast<double>(window);
    return std::min(s, 2.0 * (w - w * w / (2.0 * s)));
}

double model_flops_per_token(const TrainingSpec& training, AttentionCount count) {
    const ModelSpec& model = training.model;
    if (model.kind == ModelKind::moe)
        return moe_flops_per_token(model, count == AttentionCount::full ? AttentionSquare::full
                                                                        : AttentionSquare::causal);
    const double l = static_cast<double>(model.layers), h = static_cast<double>(model.hidden);
    const double v = static_cast<double>(model.vocab), f = static_cast<double>(model.ffn_size());
    const double s_eff =
        effective_sequence(model, count == AttentionCount::windowed ? training.technique.window : 0);
    // Per layer and token, forward: 8 h^2 (QKV, projection) + 4 h f (MLP) + 4 s_eff h (scores and context; the
    // convention counts the full square also for causal attention). 24 h^2 + 4 s h, times 3 = 72 h^2 (1 + s / 6h).
    const double layer = 8 * h * h + 4 * h * f + 4 * s_eff * h;
    return 3.0 * (l * layer + 2 * h * v);
}

double hardware_flops_per_token(const TrainingSpec& training) {
    const ModelSpec& model = training.model;
    const double model_flops = model_flops_per_token(training, AttentionCount::windowed);
    if (model.kind == ModelKind::moe) {  // selective recomputation has no products
        const double head = 2 * static_cast<double>(model.hidden * model.vocab);
        return training.recompute == Recompute::full ? model_flops + (model_flops / 3.0 - head) : model_flops;
    }
    const double l = static_cast<double>(model.layers), h = static_cast<double>(model.hidden);
    const double attention = 4 * effective_sequence(model, training.technique.window) * h * l;
    const double head = 2 * h * static_cast<double>(model.vocab);
    switch (training.recompute) {
        case Recompute::none: return model_flops;
        case Recompute::selective:
            // The efficient operators keep no scores, so that nothing is computed again (transformer.cpp).
            return training.technique.operators == OperatorSet::efficient ? model_flops : model_flops + attention;
        case Recompute::full: return model_flops + (model_flops / 3.0 - head);
    }
    return model_flops;
}

}  // namespace rehearse

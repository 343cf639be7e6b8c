#include "runtime/moe/expert_policies.hpp"

#include "models/workload/moe/moe_model.hpp"
#include "runtime/moe/layer_policies.hpp"

namespace rehearse {

namespace {

// Sums over layers become means.
void average(ExpertFigures& figures, double layers) {
    for (double* sum : {&figures.expert_max_over_mean, &figures.rank_max_over_mean, &figures.rank_deviation,
                        &figures.dropped, &figures.experts_over, &figures.steps_over})
        *sum /= layers;
}

}  // namespace

PolicyOutcome run_expert_policies(const PolicyInputs& inputs) {
    PolicyOutcome outcome;
    ExpertStep& result = outcome.step;
    const ModelSpec& model = inputs.training.model;
    const PolicySpec& policies = inputs.policies;
    result.decision_s = policies.decision.seconds();
    const bool balanced = inputs.training.routing.kind == RoutingKind::balanced;
    const bool streams = policies.stream.refills > 0 && inputs.training.parallel.expert > 1;
    if (model.experts.routed == 0) return outcome;
    const auto steps = static_cast<std::uint32_t>(balanced ? 0 : policies.warmup_steps);
    double layers = 0;
    if (!balanced) result.loads.resize(static_cast<std::size_t>(model.layers));
    ExpertFigures figures{0, 0};
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!has_experts(model, layer)) continue;
        LayerPolicies at(inputs, static_cast<std::uint32_t>(layer));
        for (std::uint32_t step = 0; step < steps; ++step) at.warm_up(step, result);
        if (streams && layers == 0) outcome.stream_first = at.stream_first(steps);
        if (balanced) break;
        ++layers;
        result.loads[static_cast<std::size_t>(layer)] = at.measure(steps, figures);
        outcome.expert_of_slot.push_back(at.expert_of_slot());
    }
    if (layers > 0) {
        figures.decisions = result.figures.decisions;
        figures.migrated_bytes = result.figures.migrated_bytes;
        average(figures, layers);
        result.figures = figures;
    }
    if (steps > 0) result.migration_s /= steps;
    return outcome;
}

}  // namespace rehearse

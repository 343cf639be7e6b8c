#include "runtime/moe/expert_policies.hpp"

#include <algorithm>
#include <cmath>

#include "models/workload/moe/moe_model.hpp"
#include "runtime/moe/layer_policies.hpp"
#include "runtime/moe/replicas.hpp"

namespace rehearse {

namespace {

// Sums over layers become means.
void average(ExpertFigures& figures, double layers) {
    for (double* sum : {&figures.expert_max_over_mean, &figures.rank_max_over_mean, &figures.rank_deviation,
                        &figures.dropped, &figures.experts_over, &figures.steps_over})
        *sum /= layers;
}

// What the pager runs on: rows of every slot of the group, of the last steps, on the layers of the last stage.
class PagedRows {
public:
    PagedRows(const PolicyInputs& inputs, std::uint32_t steps)
        : in_(inputs), first_step_(steps >= paged_steps_most ? steps + 1 - paged_steps_most : 0) {
        const std::int64_t stages = in_.training.parallel.pipeline, layers = in_.training.model.layers;
        first_layer_ = layers - (layers + stages - 1) / stages;
        if (is_on(in_.policies.pager.active)) steps_.resize(steps + 1 - first_step_);
    }

    void add(std::int64_t layer, std::uint32_t step, const LayerPolicies& at) {
        if (steps_.empty() || layer < first_layer_ || step < first_step_) return;
        steps_[step - first_step_].push_back(at.slot_rows(step));
    }

    void page(ExpertStep& result) const {
        if (steps_.empty() || steps_.back().empty()) return;
        const PagerPolicy& pager = in_.policies.pager;
        const ParallelSpec& parallel = in_.training.parallel;
        const double weights =
            2 * expert_parameters(in_.training.model) / static_cast<double>(parallel.expert_width());
        const PagedStep step = run_paged_steps(
            pager, {Bytes{std::llround(weights)}, in_.training.micro_batches(), in_.pace},
            of_busiest(static_cast<std::size_t>(parallel.expert)), in_.seed);
        const auto per_use = [&](std::uint64_t count) {
            return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(1, step.counters.uses));
        };
        result.figures.page_misses = per_use(step.counters.misses);
        result.figures.page_faults = per_use(step.counters.faults);
        result.figures.page_waits = static_cast<std::int64_t>(step.counters.waits);
        result.figures.page_migrations = static_cast<std::int64_t>(step.counters.migrations);
        result.figures.page_drops = static_cast<std::int64_t>(step.counters.drops);
        const double copied = static_cast<double>(step.counters.loads) * static_cast<double>(pager.spec.page.value);
        result.page_wait_s = step.wait.seconds() + 2 * copied * in_.pass;  // read and written
        result.resident_experts = pager.resident;
    }

private:
    // Of the rank with most rows in the last step.
    std::vector<SlotRows> of_busiest(std::size_t ranks) const {
        const std::size_t slots = steps_.back().front().size() / ranks;
        std::vector<double> load(ranks);
        for (const std::vector<float>& layer : steps_.back())
            for (std::size_t slot = 0; slot < layer.size(); ++slot)
                load[slot / slots] += static_cast<double>(layer[slot]);
        const auto rank = std::max_element(load.begin(), load.end()) - load.begin();
        const auto first = rank * static_cast<std::ptrdiff_t>(slots), end = first + static_cast<std::ptrdiff_t>(slots);
        std::vector<SlotRows> steps;
        for (const SlotRows& group : steps_) {
            SlotRows& rows = steps.emplace_back();
            for (const std::vector<float>& layer : group) rows.emplace_back(layer.begin() + first, layer.begin() + end);
        }
        return steps;
    }

    const PolicyInputs& in_;
    std::uint32_t first_step_;
    std::int64_t first_layer_ = 0;
    std::vector<SlotRows> steps_;
};

}  // namespace

PolicyOutcome run_expert_policies(const PolicyInputs& inputs) {
    PolicyOutcome outcome;
    ExpertStep& result = outcome.step;
    const ModelSpec& model = inputs.training.model;
    const PolicySpec& policies = inputs.policies;
    result.decision_s = policies.decision.seconds();
    result.memory = expert_memory(inputs.training, policies);
    const bool balanced = inputs.training.routing.kind == RoutingKind::balanced;
    const bool streams = policies.stream.refills > 0 && inputs.training.parallel.expert > 1;
    if (model.experts.routed == 0) return outcome;
    const auto steps = static_cast<std::uint32_t>(policies.warmup_steps);
    bool first = true;
    if (!balanced) result.loads.resize(static_cast<std::size_t>(model.layers));
    ExpertFigures figures{0, 0};
    PagedRows paged(inputs, steps);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!has_experts(model, layer)) continue;
        LayerPolicies at(inputs, static_cast<std::uint32_t>(layer));
        for (std::uint32_t step = 0; step < steps; ++step) {
            paged.add(layer, step, at);
            if (!balanced) at.warm_up(step, result);
        }
        paged.add(layer, steps, at);
        if (streams && first) outcome.stream_first = at.stream_first(balanced ? 0 : steps);
        first = false;
        if (balanced) continue;
        result.loads[static_cast<std::size_t>(layer)] = at.measure(steps, figures);
        outcome.expert_of_slot.push_back(at.expert_of_slot());
    }
    if (!outcome.expert_of_slot.empty()) {
        figures.decisions = result.figures.decisions;
        figures.migrated_bytes = result.figures.migrated_bytes;
        average(figures, static_cast<double>(outcome.expert_of_slot.size()));
        result.figures = figures;
    }
    if (!balanced) result.replica_s = replica_seconds(inputs.training, policies.balancer, inputs.link, inputs.pass);
    paged.page(result);
    if (steps > 0) result.migration_s /= steps;
    return outcome;
}

}  // namespace rehearse

#include "scenarios/workload_of.hpp"

#include <algorithm>
#include <cmath>

#include "models/workload/moe/moe_model.hpp"
#include "runtime/local_fabric.hpp"
#include "runtime/moe/expert_policies.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/reading/findings.hpp"

namespace rehearse {

namespace {

// Priced with all experts alike: means over the layers of the model, with what the first and the last stage compute
// beside theirs.
LayerPace layer_pace(const ValidScenario& scenario) {
    const Workload even = build_workload(scenario.training());
    const Cluster cluster = build_cluster(scenario.cluster());
    const Placement placement = place_job(scenario, even, cluster, scenario.seed());
    const DeviceProfile profile = limited_by(scenario.models().profile, scenario.cluster().node.nvlink);
    const std::vector<PricedWork> prices =
        price(even, profile, local_fabric(scenario.training().parallel, even.layout, placement, cluster));
    LayerPace pace;
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const SimDuration time = prices[i].compute() + prices[i].communication();
        if (even.works[i].name == "forward") pace.forward += time;
        if (even.works[i].name == "backward") pace.backward += time;
    }
    const std::int64_t layers = scenario.training().model.layers;
    return {SimDuration{pace.forward.value / layers}, SimDuration{pace.backward.value / layers}};
}

// What the scenario says of the policies' own time; where it says nothing, what was measured of them: for each layer
// with experts the fast planner in every step, the slow one once a period, and for the pager a plan.
PolicySpec with_decision(const ValidScenario& scenario) {
    PolicySpec policies = scenario.policies();
    const MeasuredCosts& measured = scenario.models().profile.measured;
    if (has_key(scenario.plain().written, "policies.decision") || measured.policies.empty()) return policies;
    const ModelSpec& model = scenario.training().model;
    const double layers = static_cast<double>(model.layers - model.experts.dense_layers);
    const double experts = static_cast<double>(model.experts.routed);
    double time = 0;
    if (is_on(policies.balancer.active)) {
        const BalancerSpec& spec = policies.balancer.spec;
        if (spec.top > 0 && spec.spare_slots > 0) time += layers * measured.policy_seconds("balancer_fast", experts);
        if (spec.period > 0) time += layers * measured.policy_seconds("balancer_slow", experts) / spec.period;
    }
    if (is_on(policies.pager.active)) {
        const double weights = layers * experts / static_cast<double>(scenario.training().parallel.expert) * 2 *
                               expert_parameters(model);
        time += measured.policy_seconds("pager", weights / static_cast<double>(policies.pager.spec.page.value));
    }
    policies.decision = seconds(time);
    return policies;
}

// Where kernels were measured on a core, the core itself copies: seconds per byte that it reads or writes.
double core_pass(const ValidScenario& scenario) {
    const PiecewiseCurve* stream = scenario.models().profile.measured.kernel("residual");
    if (stream == nullptr) return 0;
    constexpr double probe = 1 << 20;  // bytes, most of them behind the second-level cache
    return seconds_at(*stream, probe) / probe;
}

// What experts travel over: the node's link, and no faster than collectives were measured.
Bandwidth expert_link(const ValidScenario& scenario) {
    const NodeSpec& node = scenario.cluster().node;
    const std::int64_t span = scenario.training().parallel.expert_span();
    if (span > node.gpus) return node.nic;
    constexpr double probe = 1 << 20;  // bytes of a transfer whose rate counts
    const PiecewiseCurve* curve = scenario.models().profile.measured.collective("all_to_all", span);
    if (curve == nullptr) return node.nvlink;
    return std::min(node.nvlink, Bandwidth{std::llround(8 * probe / seconds_at(*curve, probe))});
}

}  // namespace

Workload workload_of(const ValidScenario& scenario) {
    if (scenario.training().model.kind == ModelKind::gpt) return build_workload(scenario.training());
    const NodeSpec& node = scenario.cluster().node;
    const PolicySpec policies = with_decision(scenario);
    const PolicyInputs inputs{scenario.training(),
                              policies,
                              static_cast<std::uint32_t>(node.gpus),
                              expert_link(scenario),
                              scenario.models().profile.message_latency,
                              scenario.seed(),
                              is_on(scenario.policies().pager.active) ? layer_pace(scenario) : LayerPace{},
                              core_pass(scenario)};
    return located(scenario.plain().written, [&] {
        PolicyOutcome outcome = run_expert_policies(inputs);
        TrainingSpec training = scenario.training();
        training.technique.stream_first = outcome.stream_first;
        if (outcome.stream_first > 0)
            training.technique.stream_chunk = 1.0 / static_cast<double>(policies.stream.refills);
        return build_workload(training, std::move(outcome.step));
    });
}

}  // namespace rehearse

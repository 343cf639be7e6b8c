#include "scenarios/workload_of.hpp"

#include <algorithm>

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

}  // namespace

Workload workload_of(const ValidScenario& scenario) {
    if (scenario.training().model.kind == ModelKind::gpt) return build_workload(scenario.training());
    const NodeSpec& node = scenario.cluster().node;
    const bool in_one_node = scenario.training().parallel.expert_span() <= node.gpus;
    const PolicyInputs inputs{scenario.training(),
                              scenario.policies(),
                              static_cast<std::uint32_t>(node.gpus),
                              in_one_node ? node.nvlink : node.nic,
                              scenario.models().profile.message_latency,
                              scenario.seed(),
                              is_on(scenario.policies().pager.active) ? layer_pace(scenario) : LayerPace{}};
    return located(scenario.plain().written, [&] {
        PolicyOutcome outcome = run_expert_policies(inputs);
        TrainingSpec training = scenario.training();
        training.technique.stream_first = outcome.stream_first;
        return build_workload(training, std::move(outcome.step));
    });
}

}  // namespace rehearse

#include "scenarios/workload_of.hpp"

#include <algorithm>

#include "runtime/moe/expert_policies.hpp"
#include "scenarios/reading/findings.hpp"

namespace rehearse {

Workload workload_of(const ValidScenario& scenario) {
    if (scenario.training().model.kind == ModelKind::gpt) return build_workload(scenario.training());
    const NodeSpec& node = scenario.cluster().node;
    const bool in_one_node = scenario.training().parallel.expert_span() <= node.gpus;
    const PolicyInputs inputs{scenario.training(),
                              scenario.policies(),
                              static_cast<std::uint32_t>(node.gpus),
                              in_one_node ? node.nvlink : node.nic,
                              scenario.models().profile.message_latency,
                              scenario.seed()};
    return located(scenario.plain().written, [&] {
        PolicyOutcome outcome = run_expert_policies(inputs);
        TrainingSpec training = scenario.training();
        training.technique.stream_first = outcome.stream_first;
        return build_workload(training, std::move(outcome.step));
    });
}

}  // namespace rehearse

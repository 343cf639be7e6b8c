#include "scenarios/reading/validate_scenario.hpp"

#include "scenarios/reading/check_parts.hpp"

namespace rehearse {

ValidScenario validate(Scenario raw) {
    Findings findings(raw.written);
    check_training(raw.training, raw.job, findings);
    if (raw.training.model.kind == ModelKind::moe)
        check_policies(raw.training, raw.policies, raw.cluster.node.gpus, findings);
    check_cluster(raw.cluster, raw.job, raw.training.parallel, findings);
    check_network(raw.models.network, raw.cluster.fabric, findings);
    check_slice(raw.models, raw.job, raw.cluster.node, findings);
    if (raw.models.network.fidelity == Fidelity::packet)
        check_packet(raw.models.packet, raw.models.network, findings);
    if (findings.sound()) check_memory(raw.training, raw.policies, raw.models.profile, findings);
    findings.throw_if_any();
    ValidScenario valid;
    valid.warnings_ = findings.warnings();
    valid.scenario_ = std::move(raw);
    return valid;
}

}  // namespace rehearse

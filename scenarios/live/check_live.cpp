#include "scenarios/live/check_live.hpp"

#include <fmt/format.h>

#include "scenarios/reading/findings.hpp"

namespace rehearse {

namespace {

class LiveCheck {
public:
    LiveCheck(const ValidScenario& scenario, Findings& findings) : scenario_(scenario), findings_(findings) {}

    void check(std::int64_t cores) {
        const TrainingSpec& training = scenario_.training();
        const ModelSpec& model = training.model;
        if (model.kind != ModelKind::moe || model.experts.routed == 0)
            return findings_.fault("training.model.kind", "a live run works on mixtures of experts",
                                   "moe with experts");
        if (scenario_.job().gpus > cores)
            findings_.fault("job.gpus", fmt::format("{} ranks on {} cores", scenario_.job().gpus, cores),
                            "at most one rank per core", "use fewer ranks, or a larger machine");
        none("training.model.experts.shared", model.experts.shared);
        none("training.model.latent.query_rank", model.latent.query_rank);
        none("training.model.latent.key_rank", model.latent.key_rank);
        none("training.model.extra_tokens", model.extra_tokens);
        if (model.layers * model.experts.routed > model.hidden)
            findings_.fault("training.model.hidden", "too few features for the gates of all layers",
                            fmt::format("at least layers x experts, {}", model.layers * model.experts.routed),
                            "the gate of a layer reads features of its own, one per expert");
        parallel(training.parallel);
        techniques(training.technique);
        if (training.recompute != Recompute::none) only("training.recompute", "none");
        if (training.precision != TrainingPrecision::bf16) only("training.precision", "bf16");
        if (training.gradient_bytes != 4) only("training.gradient_bytes", "4: gradients are fp32 here");
        if (training.capacity.factor != 0) only("training.capacity.factor", "0: no token is dropped");
        if (training.routing.kind == RoutingKind::recorded || training.routing.drift != 0)
            only("training.routing", "shares that stay: uniform, balanced, zipf, skew, dirichlet without drift");
        policies(scenario_.policies());
    }

private:
    void only(const char* key, const std::string& expected) {
        findings_.fault(key, "not in a live run", expected);
    }
    void none(const char* key, std::int64_t value) {
        if (value != 0) only(key, "0");
    }

    void parallel(const ParallelSpec& parallel) {
        if (parallel.tensor != 1) only("training.parallel.tensor", "1: a core has no tensor group");
        if (parallel.context != 1) only("training.parallel.context", "1");
        if (parallel.pipeline != 1) only("training.parallel.pipeline", "1");
        if (parallel.expert < 2) only("training.parallel.expert", "at least 2 ranks that exchange rows");
        if (parallel.expert_width() != 1) only("training.parallel.expert_tensor", "1");
    }

    void techniques(const TechniqueSpec& technique) {
        if (technique.operators != OperatorSet::efficient) only("training.technique.operators", "efficient");
        if (technique.exchange != ExchangeChoice::direct) only("training.technique.exchange", "direct");
        const auto off = [&](const char* key, Switch value) {
            if (is_on(value)) only(key, "off: nothing runs beside on a core");
        };
        off("training.technique.overlap_operators", technique.overlap_operators);
        off("training.technique.overlap_tiles", technique.overlap_tiles);
        off("training.technique.overlap_data", technique.overlap_data);
    }

    void policies(const PolicySpec& policies) {
        if (policies.calibrator.kind != CalibratorKind::none) only("policies.calibrator.kind", "none");
        if (!is_on(policies.pager.active)) return;
        if (is_on(policies.balancer.active))
            findings_.fault("policies.balancer.active", "the balancer and the pager together", "one of them",
                            "experts that are paged stay where they are in a live run");
        if (policies.stream.refills > 0)
            findings_.fault("policies.stream.refills", "a token stream into experts that are paged", "0",
                            "the pages to wait for are known when all rows are there");
    }

    const ValidScenario& scenario_;
    Findings& findings_;
};

}  // namespace

void check_live(const ValidScenario& scenario, std::int64_t cores) {
    Findings findings(scenario.plain().written);
    LiveCheck(scenario, findings).check(cores);
    findings.throw_if_any();
}

}  // namespace rehearse

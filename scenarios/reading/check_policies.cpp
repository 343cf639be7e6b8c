#include <fmt/format.h>


#include "models/workload/moe/moe_model.hpp"
#include "scenarios/reading/check_parts.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

void check_balancer(const TrainingSpec& training, const BalancerPolicy& balancer, Findings& findings) {
    if (!is_on(balancer.active)) return;
    const std::int64_t here = training.model.experts.routed / training.parallel.expert;
    if (training.parallel.expert == 1)
        findings.warning("policies.balancer", "all experts lie on every rank", "it changes nothing");
    if (balancer.slots_per_gpu > 0 && balancer.slots_per_gpu < here + balancer.spec.spare_slots)
        findings.fault("policies.balancer.slots_per_gpu",
                       fmt::format("{} slots for {} experts and {} spare slots of a GPU", balancer.slots_per_gpu, here,
                                   balancer.spec.spare_slots),
                       fmt::format("at least {}", here + balancer.spec.spare_slots));
    if (!(balancer.spec.gain_least >= 0 && balancer.spec.gain_least < 1))
        findings.fault("policies.balancer.gain_least", fmt::format("{}", balancer.spec.gain_least), "0 to below 1");
}

void check_calibrator(const CalibratorSpec& calibrator, Findings& findings) {
    const auto within = [&](const char* key, double value, double least, double most) {
        if (value >= least && value <= most) return;
        findings.fault(fmt::format("policies.calibrator.{}", key), fmt::format("{} is out of range", value),
                       fmt::format("{} to {}", least, most));
    };
    within("keep", calibrator.load_aware.keep, 0, 1);
    within("weight", calibrator.load_aware.weight, 0, 100);
    within("lag", calibrator.load_aware.lag, 0, 100);
    within("rate", calibrator.rate, 0, 100);
}

void check_pager(const TrainingSpec& training, const PagerPolicy& pager, Findings& findings) {
    if (!is_on(pager.active)) return;
    const PagerSpec& spec = pager.spec;
    if (!(pager.resident > 0 && pager.resident <= 1))
        findings.fault("policies.pager.resident", fmt::format("{} of the experts in GPU memory", pager.resident),
                       "above 0, at most 1");
    if (!(0 <= spec.evict_below && spec.evict_below <= spec.load_above && spec.load_above < 1))
        findings.fault("policies.pager.load_above",
                       fmt::format("loading above {} and evicting below {} free", spec.load_above, spec.evict_below),
                       "0 <= evict_below <= load_above < 1");
    if (spec.page <= Bytes{0})
        return findings.fault("policies.pager.page", "a page without bytes", "for example 64 MiB");
    const double layers = static_cast<double>(training.model.layers) / static_cast<double>(training.parallel.pipeline);
    const double held = 2 * expert_parameters(training.model) * static_cast<double>(training.model.experts.routed) /
                        static_cast<double>(training.parallel.expert_span()) * layers * pager.resident;
    if (held < static_cast<double>(spec.page.value))
        findings.fault(
            "policies.pager.page",
            fmt::format("a page of {} is larger than the budget of {:.0f} B", rehearse::format(spec.page), held),
            "a page within resident x the experts of a GPU", "use smaller pages or a larger resident share");
}

}  // namespace

void check_policies(const TrainingSpec& training, const PolicySpec& policies, Findings& findings) {
    FaultList faults;
    check_routing(training.routing, static_cast<std::uint32_t>(training.model.experts.routed),
                  static_cast<std::uint32_t>(training.model.experts.top_k), "training.routing", faults);
    for (const Fault& fault : faults.faults()) {
        if (!fault.path.ends_with("top_k")) findings.fault(fault);  // check_training() has said it
    }
    for (const std::string& line : training.routing.skipped)
        findings.warning("training.routing.trace", line, "not counted");
    check_balancer(training, policies.balancer, findings);
    check_calibrator(policies.calibrator, findings);
    check_pager(training, policies.pager, findings);
    const StreamPolicy& stream = policies.stream;
    if (!(stream.threshold > 0 && stream.threshold <= 1))
        findings.fault("policies.stream.threshold", fmt::format("{} of the ring", stream.threshold),
                       "above 0, at most 1");
    const bool acts = is_on(policies.balancer.active) || policies.calibrator.kind != CalibratorKind::none;
    if (acts && training.routing.kind == RoutingKind::balanced)
        findings.warning("training.routing", "every expert gets the same", "balancer and calibrator change nothing");
}

}  // namespace rehearse

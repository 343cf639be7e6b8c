#include <fmt/format.h>

#include "models/workload/moe/moe_model.hpp"
#include "runtime/moe/replicas.hpp"
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
    const std::int64_t slots = expert_slots(training, balancer);
    if (slots > training.model.experts.routed)
        findings.fault("policies.balancer", fmt::format("{} slots of a GPU for {} experts in all", slots,
                                                        training.model.experts.routed),
                       "no more slots than there are experts");
    if (!(balancer.spec.gain_least >= 0 && balancer.spec.gain_least < 1))
        findings.fault("policies.balancer.gain_least", fmt::format("{}", balancer.spec.gain_least), "0 to below 1");
}

void check_calibrator(const CalibratorSpec& calibrator, Findings& findings) {
    const auto within = [&](const char* key, double value, double least, double most) {
        if (value >= least && value <= most) return;
        findings.fault(fmt::format("policies.calibrator.{}", key), fmt::format("{} is out of range", value),
                       fmt::format("{} to {}", least, most));
    };
    within("keep", calibrator.load_aware.keep, 0, 0.999999);
    within("weight", calibrator.load_aware.weight, 0, 100);
    within("lag", calibrator.load_aware.lag, 0, 100);
    within("rate", calibrator.rate, 0, 100);
}

void check_pcie(const PagerPolicy& pager, Findings& findings) {
    constexpr Bandwidth least{800'000'000};  // 100 MB/s
    if (pager.pcie_alone < least || pager.pcie_duplex < least || pager.pcie_duplex > pager.pcie_alone)
        findings.fault("policies.pager.pcie_alone",
                       fmt::format("a link of {} one way, {} each way", format_byte_rate(pager.pcie_alone),
                                   format_byte_rate(pager.pcie_duplex)),
                       "at least 100 MB/s, and not faster in both directions than in one");
    if (!(pager.spec.standby_at >= 0 && pager.spec.standby_at <= 1))
        findings.fault("policies.pager.standby_at", fmt::format("{} is no probability", pager.spec.standby_at),
                       "0 to 1");
}

// The budget holds at least one layer's experts, and not more pages than a run can follow.
void check_budget(const TrainingSpec& training, const PagerPolicy& pager, Findings& findings) {
    constexpr double pages_most = 16'384;
    const double page = static_cast<double>(pager.spec.page.value);
    const double layers = static_cast<double>(training.model.layers) / static_cast<double>(training.parallel.pipeline);
    const double layer = 2 * expert_parameters(training.model) * static_cast<double>(training.model.experts.routed) /
                         static_cast<double>(training.parallel.expert_span());
    const double held = layer * layers * pager.resident;
    if (held < page)
        return findings.fault(
            "policies.pager.page",
            fmt::format("a page of {} is larger than the budget of {:.0f} B", format(pager.spec.page), held),
            "a page within resident x the experts of a GPU", "use smaller pages or a larger resident share");
    if (held < layer * 0.999999)
        findings.fault("policies.pager.resident",
                       fmt::format("a budget of {:.0f} B cannot hold the experts of one layer, {:.0f} B", held, layer),
                       fmt::format("at least {:.4g}", 1 / layers));
    if (layer * layers / page > pages_most)
        findings.fault("policies.pager.page",
                       fmt::format("the experts of a GPU are {:.0f} pages of {}", layer * layers / page,
                                   format(pager.spec.page)),
                       fmt::format("at most {:.0f}", pages_most), "use larger pages");
}

void check_pager(const TrainingSpec& training, const PagerPolicy& pager, std::int64_t node_gpus, Findings& findings) {
    if (!is_on(pager.active)) return;
    const PagerSpec& spec = pager.spec;
    if (pager.gpus_per_switch > node_gpus)
        findings.fault("policies.pager.gpus_per_switch",
                       fmt::format("{} GPUs on a switch of a node of {}", pager.gpus_per_switch, node_gpus),
                       fmt::format("at most {}", node_gpus));
    check_pcie(pager, findings);
    if (!(pager.resident > 0 && pager.resident <= 1))
        findings.fault("policies.pager.resident", fmt::format("{} of the experts in GPU memory", pager.resident),
                       "above 0, at most 1");
    if (!(0 <= spec.evict_below && spec.evict_below <= spec.load_above && spec.load_above < 1))
        findings.fault("policies.pager.load_above",
                       fmt::format("loading above {} and evicting below {} free", spec.load_above, spec.evict_below),
                       "0 <= evict_below <= load_above < 1");
    if (spec.page <= Bytes{0})
        return findings.fault("policies.pager.page", "a page without bytes", "for example 64 MiB");
    if (pager.resident > 0) check_budget(training, pager, findings);
}

}  // namespace

void check_policies(const TrainingSpec& training, const PolicySpec& policies, std::int64_t node_gpus,
                    Findings& findings) {
    FaultList faults;
    check_routing(training.routing, static_cast<std::uint32_t>(training.model.experts.routed),
                  static_cast<std::uint32_t>(training.model.experts.top_k), "training.routing", faults);
    for (const Fault& fault : faults.faults()) {
        if (!fault.path.ends_with("top_k")) findings.fault(fault);  // check_training() has said it
    }
    const std::int64_t trace_top_k = training.routing.trace_top_k;
    if (trace_top_k > 0 && trace_top_k != training.model.experts.top_k)
        findings.warning("training.routing.trace",
                         fmt::format("tokens of the trace have {} experts, those of the model {}", trace_top_k,
                                     training.model.experts.top_k),
                         "only the shares of the experts are taken");
    for (const std::string& line : training.routing.skipped)
        findings.warning("training.routing.trace", line, "not counted");
    check_balancer(training, policies.balancer, findings);
    check_calibrator(policies.calibrator, findings);
    check_pager(training, policies.pager, node_gpus, findings);
    const StreamPolicy& stream = policies.stream;
    if (!(stream.threshold > 0 && stream.threshold <= 1))
        findings.fault("policies.stream.threshold", fmt::format("{} of the ring", stream.threshold),
                       "above 0, at most 1");
    if (!(training.capacity.factor <= 1e6))
        findings.fault("training.capacity.factor", fmt::format("{:g} times an even share", training.capacity.factor),
                       "0 (dropless) to 1e6");
    const bool acts = is_on(policies.balancer.active) || policies.calibrator.kind != CalibratorKind::none;
    if (acts && training.routing.kind == RoutingKind::balanced)
        findings.warning("training.routing", "every expert gets the same", "balancer and calibrator change nothing");
}

}  // namespace rehearse

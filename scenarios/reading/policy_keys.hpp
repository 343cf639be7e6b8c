// The keys of a mixture of experts beside the model's: routing and capacity (training), and the policies that act on
// the experts. A visitor as in scenario_keys.hpp, and
//
//     routing_source(key, RoutingSpec&)    a router trace or counts, see read_keys.hpp
#pragma once

#include "scenarios/reading/words.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

template <class V>
void routing_keys(V& v, RoutingSpec& routing, std::int64_t experts) {
    v.word("kind", routing.kind, routing_kind_words);
    if (routing.kind == RoutingKind::zipf) v.value("exponent", routing.exponent);
    if (routing.kind == RoutingKind::dirichlet) {
        v.value("concentration", routing.concentration);
        v.value("drift", routing.drift);
    }
    if (routing.kind == RoutingKind::skew) {
        v.list("groups", routing.groups, [&](SkewGroup& group) {
            std::int64_t size = group.experts;
            v.value("experts", size, {.range = {1, 1 << 20}});
            group.experts = static_cast<std::uint32_t>(size);
            v.value("share", group.share);
        });
    }
    if (routing.kind == RoutingKind::recorded) v.routing_source("trace", routing, experts);
}

template <class V>
void capacity_keys(V& v, CapacitySpec& capacity) {
    v.value("factor", capacity.factor);
    if (!(capacity.factor >= 0)) v.fault("factor", "a capacity below nothing", "0 (dropless), or 1 and a little more");
    v.word("scope", capacity.scope, capacity_scope_words);
}

template <class V>
void count32(V& v, std::string_view key, std::uint32_t& value, std::int64_t least = 0) {
    std::int64_t wide = value;
    v.value(key, wide, {.range = {least, 1 << 20}});
    value = static_cast<std::uint32_t>(wide);
}

template <class V>
void policy_keys(V& v, PolicySpec& policies) {
    v.value("warmup_steps", policies.warmup_steps, {.range = {0, 100'000}});
    v.duration("decision", policies.decision);
    v.section("balancer", [&] {
        BalancerPolicy& balancer = policies.balancer;
        v.value("active", balancer.active);
        v.value("slots_per_gpu", balancer.slots_per_gpu,
                {.range = {0, 65'536}, .comment = "0: experts and spare slots"});
        count32(v, "period", balancer.spec.period);
        count32(v, "window", balancer.spec.window, 1);
        count32(v, "top", balancer.spec.top);
        count32(v, "spare_slots", balancer.spec.spare_slots);
        count32(v, "cool_down", balancer.spec.cool_down);
        v.value("gain_least", balancer.spec.gain_least);
    });
    v.section("calibrator", [&] {
        CalibratorSpec& calibrator = policies.calibrator;
        v.word("kind", calibrator.kind, calibrator_words);
        v.value("keep", calibrator.load_aware.keep);
        v.value("weight", calibrator.load_aware.weight);
        v.value("lag", calibrator.load_aware.lag);
        v.value("rate", calibrator.rate);
    });
    v.section("stream", [&] {
        v.value("refills", policies.stream.refills, {.range = {0, 1 << 20}, .comment = "0: no stream"});
        v.value("threshold", policies.stream.threshold);
    });
    v.section("pager", [&] {
        PagerPolicy& pager = policies.pager;
        v.value("active", pager.active);
        v.value("page", pager.spec.page);
        v.value("resident", pager.resident);
        v.value("standby_at", pager.spec.standby_at);
        v.value("load_above", pager.spec.load_above);
        v.value("evict_below", pager.spec.evict_below);
        count32(v, "migrate_after", pager.spec.migrate_after, 1);
        v.byte_rate("pcie_alone", pager.pcie_alone);
        v.byte_rate("pcie_duplex", pager.pcie_duplex);
        count32(v, "gpus_per_switch", pager.gpus_per_switch, 1);
    });
}

}  // namespace rehearse

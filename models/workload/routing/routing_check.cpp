#include <fmt/format.h>

#include "models/workload/routing/routing.hpp"

namespace rehearse {

void check_routing(const RoutingSpec& spec, std::uint32_t experts, std::uint32_t top_k, const std::string& path,
                   FaultList& faults) {
    const auto fault = [&](const char* key, std::string wrong, std::string expected) {
        faults.add({{}, path + "." + key, std::move(wrong), std::move(expected), ""});
    };
    if (top_k == 0 || top_k > experts)
        fault("top_k", fmt::format("each token chooses {} of {} experts", top_k, experts),
              "1 to the number of experts");
    if (spec.kind == RoutingKind::zipf && !(spec.exponent >= 0 && spec.exponent <= 100))
        fault("exponent", fmt::format("{} is no exponent", spec.exponent), "0 to 100");
    if (spec.kind == RoutingKind::dirichlet && !(spec.concentration >= 1e-3 && spec.concentration <= 1e9))
        fault("concentration", fmt::format("{} is no concentration", spec.concentration), "0.001 to 1e9");
    if (spec.kind == RoutingKind::dirichlet && !(spec.drift >= 0 && spec.drift <= 1))
        fault("drift", fmt::format("{} of the weights would change in a step", spec.drift), "0 to 1");
    if (spec.kind == RoutingKind::skew) {
        std::uint64_t named = 0;
        double share = 0;
        for (const SkewGroup& group : spec.groups) {
            if (group.experts == 0 || !(group.share >= 0 && group.share <= 1))
                fault("groups", fmt::format("{} experts with share {}", group.experts, group.share),
                      "at least one expert, and a share of 0 to 1");
            named += group.experts;
            share += group.share;
        }
        if (named > experts) fault("groups", fmt::format("{} experts of {}", named, experts), "no more than there are");
        if (share > 1 + 1e-9) fault("groups", fmt::format("shares add up to {}", share), "at most 1");
        if (named == experts && share < 1 - 1e-9)
            fault("groups", fmt::format("shares add up to {} and no expert is left for the rest", share), "1");
    }
    if (spec.kind == RoutingKind::recorded && (spec.recorded.experts != experts || spec.recorded.counts.empty()))
        fault("recorded", fmt::format("counts of {} experts in {} layers", spec.recorded.experts, spec.recorded.layers),
              fmt::format("counts of {} experts", experts));
}

}  // namespace rehearse

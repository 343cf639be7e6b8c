#include "topology/fabric_checks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "topology/detail/reach.hpp"

namespace rehearse {
namespace {

constexpr double tolerance = 1e-9;

FabricCheck make_check(std::string name, std::string meaning, double value, CheckRelation relation, double bound) {
    const bool passed = relation == CheckRelation::at_least  ? value >= bound - tolerance
                        : relation == CheckRelation::at_most ? value <= bound + tolerance
                                                             : std::abs(value - bound) <= tolerance;
    return {std::move(name), std::move(meaning), value, relation, bound, passed};
}

// What one switch has, counted on its links.
struct SwitchUse {
    std::int64_t host_links = 0, down_links = 0, up_links = 0;
    double down_rate = 0, up_rate = 0;
    double child_rate_min = 0, child_rate_max = 0;  // of the neighbours below: capacity to each
};

SwitchUse count_links(const Cluster& cluster, VertexId at) {
    SwitchUse use;
    VertexId neighbour;
    double to_neighbour = 0;
    use.child_rate_min = std::numeric_limits<double>::infinity();
    const auto close_neighbour = [&] {
        if (!neighbour.valid() || neighbour > at) return;
        use.child_rate_min = std::min(use.child_rate_min, to_neighbour);
        use.child_rate_max = std::max(use.child_rate_max, to_neighbour);
    };
    for (LinkId id : cluster.out_links(at)) {
        const Link& link = cluster.link(id);
        const double rate = static_cast<double>(link.rate.value);
        const bool up = link.to > at;  // a switch is numbered after everything below it
        (up ? use.up_links : link.tier == LinkTier::host ? use.host_links : use.down_links) += 1;
        (up ? use.up_rate : use.down_rate) += rate;
        if (link.to != neighbour) {
            close_neighbour();
            neighbour = link.to;
            to_neighbour = 0;
        }
        to_neighbour += rate;
    }
    close_neighbour();
    return use;
}

// The extremes over all switches of one kind.
struct TierUse {
    std::int64_t switches = 0, ports_max = 0, up_links_max = 0;
    double up_over_down_min = std::numeric_limits<double>::infinity();
    double child_spread_max = 1;  // capacity to the best served neighbour below / to the worst
    double up_rate = 0;
};

TierUse count_tier(const Cluster& cluster, VertexKind kind) {
    TierUse tier;
    const std::int64_t nics_per_port = cluster.shape().nics_per_port;
    for (std::uint32_t v = cluster.tor_vertex(0).value; v < cluster.vertices().size(); ++v) {
        if (cluster.vertex(VertexId{v}).kind != kind) continue;
        const SwitchUse use = count_links(cluster, VertexId{v});
        ++tier.switches;
        const std::int64_t host_ports = (use.host_links + nics_per_port - 1) / nics_per_port;
        tier.ports_max = std::max(tier.ports_max, host_ports + use.down_links + use.up_links);
        tier.up_links_max = std::max(tier.up_links_max, use.up_links);
        tier.up_rate += use.up_rate;
        if (use.down_rate > 0) {
            tier.up_over_down_min = std::min(tier.up_over_down_min, use.up_rate / use.down_rate);
            tier.child_spread_max = std::max(tier.child_spread_max, use.child_rate_max / use.child_rate_min);
        }
    }
    return tier;
}

// Links without as many links of the same rate the other way.
std::int64_t count_unpaired(const Cluster& cluster) {
    const auto capacity = [&](VertexId from, VertexId to) {
        const auto row = cluster.out_links(from);
        auto at = std::lower_bound(row.begin(), row.end(), to,
                                   [&](LinkId id, VertexId end) { return cluster.link(id).to < end; });
        std::int64_t sum = 0;
        for (; at != row.end() && cluster.link(*at).to == to; ++at) sum += cluster.link(*at).rate.value;
        return sum;
    };
    std::int64_t unpaired = 0;
    for (const Link& link : cluster.links())
        if (link.from < link.to && capacity(link.from, link.to) != capacity(link.to, link.from)) ++unpaired;
    return unpaired;
}

double host_capacity(const Cluster& cluster) {
    double sum = 0;
    for (const Link& link : cluster.links())
        if (link.tier == LinkTier::host && link.to > link.from) sum += static_cast<double>(link.rate.value);
    return sum;
}

}  // namespace

std::vector<FabricCheck> check_fabric(const Cluster& cluster) {
    const FabricSpec& fabric = cluster.spec().fabric;
    const bool fat_tree = fabric.kind == FabricKind::fat_tree;
    const double ports = static_cast<double>(fat_tree ? fabric.fat_tree_k : fabric.switch_ports);
    const double up_needed = fat_tree ? 1.0 : 1.0 / fabric.oversubscription.value;
    std::vector<FabricCheck> checks;
    const auto add = [&](std::string name, std::string meaning, double value, CheckRelation relation, double bound) {
        checks.push_back(make_check(std::move(name), std::move(meaning), value, relation, bound));
    };
    add("connected", "vertices reached from the first GPU", static_cast<double>(detail::reachable_vertices(cluster)),
        CheckRelation::equal, static_cast<double>(cluster.vertices().size()));
    add("paired", "links without equal capacity the other way", static_cast<double>(count_unpaired(cluster)),
        CheckRelation::equal, 0);
    const TierUse tor = count_tier(cluster, VertexKind::tor);
    add("tor ports", "most ports used on a ToR", static_cast<double>(tor.ports_max), CheckRelation::at_most, ports);
    if (tor.up_links_max > 0)
        add("tor 1:1", "least capacity up / down of a ToR", tor.up_over_down_min, CheckRelation::at_least, up_needed);
    const TierUse aggregation = count_tier(cluster, VertexKind::aggregation);
    if (aggregation.switches > 0)
        add("aggregation ports", "most ports used on an aggregation switch", static_cast<double>(aggregation.ports_max),
            CheckRelation::at_most, ports);
    if (aggregation.up_links_max == 0) return checks;
    add("aggregation 1:1", "least capacity up / down of an aggregation switch", aggregation.up_over_down_min,
        CheckRelation::at_least, 1.0);
    const TierUse core = count_tier(cluster, VertexKind::core);
    add("core ports", "most ports used on a core switch", static_cast<double>(core.ports_max), CheckRelation::at_most,
        ports);
    add("core even", "capacity to the best / to the worst served pod of a core switch", core.child_spread_max,
        CheckRelation::equal, 1.0);
    add("core 1:1", "capacity into the core / capacity of all hosts", aggregation.up_rate / host_capacity(cluster),
        CheckRelation::at_least, up_needed);
    return checks;
}

}  // namespace rehearse

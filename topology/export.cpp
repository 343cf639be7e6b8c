#include "topology/export.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "topology/fabric_checks.hpp"

namespace rehearse {
namespace {

template <class... Arguments>
void print(std::string& out, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), text, std::forward<Arguments>(arguments)...);
}

std::string_view kind_name(FabricKind kind) {
    constexpr std::string_view names[] = {"clos", "rail_only", "fat_tree"};
    return names[static_cast<std::size_t>(kind)];
}

void print_counts(std::string& out, const Cluster& cluster) {
    const FabricShape& shape = cluster.shape();
    const auto row = [&](std::string_view what, std::uint64_t count, const std::string& note) {
        print(out, "  {:<22}{:>9}  {}\n", what, count, note);
    };
    print(out, "fabric {}\n", kind_name(cluster.spec().fabric.kind));
    row("hosts", shape.hosts, fmt::format("{} GPUs, {} NICs each", shape.gpus_per_host, shape.nics_per_host));
    row("GPUs", cluster.gpu_count(), "");
    row("ToR sets", shape.tor_sets, fmt::format("up to {} hosts, {} rails", shape.hosts_per_tor_set, shape.rails));
    row("pods", shape.pods, fmt::format("{} ToR sets each", shape.tor_sets_per_pod));
    row("ToRs", shape.tor_count(),
        fmt::format("{} ports down x {} NICs, {} links up", shape.tor_down_ports, shape.nics_per_port,
                    shape.tor_up_links));
    row("aggregation switches", shape.aggregation_count(),
        fmt::format("{} to each ToR, {} links up", shape.links_per_tor, shape.aggregation_up_links));
    row("core switches", shape.core_count(),
        shape.core_count() == 0
            ? ""
            : fmt::format("{} planes x {}, {} links to each aggregation switch", shape.aggregations_per_group,
                          shape.cores_per_plane, shape.links_per_core));
}

void print_tiers(std::string& out, const Cluster& cluster) {
    print(out, "\n  {:<13}{:>9}{:>13}{:>15}{:>9}{:>9}\n", "tier", "links", "Gbps each", "Tbps one way", "cables",
          "optics");
    for (const TierSummary& tier : summarize_tiers(cluster))
        print(out, "  {:<13}{:>9}{:>13.0f}{:>15.1f}{:>9}{:>9}\n", name(tier.tier), tier.links,
              static_cast<double>(tier.rate.value) / 1e9, tier.capacity_bits_per_second / 1e12, tier.cables,
              tier.optics);
}

void print_checks(std::string& out, const Cluster& cluster) {
    constexpr std::string_view signs[] = {">=", "<=", "="};
    print(out, "\n  {:<19}{:>12}    {:<12}{:<6}{}\n", "check", "value", "bound", "", "value is");
    for (const FabricCheck& check : check_fabric(cluster))
        print(out, "  {:<19}{:>12.6g} {:>2} {:<12.6g}{:<6}{}\n", check.name, check.value,
              signs[static_cast<std::size_t>(check.relation)], check.bound, check.passed ? "ok" : "FAIL",
              check.value_meaning);
}

}  // namespace

std::vector<TierSummary> summarize_tiers(const Cluster& cluster) {
    std::array<TierSummary, link_tier_count> tiers;
    for (const Link& link : cluster.links()) {
        if (link.from > link.to) continue;
        TierSummary& tier = tiers[static_cast<std::size_t>(link.tier)];
        tier.rate = link.rate;
        ++tier.links;
        tier.capacity_bits_per_second += static_cast<double>(link.rate.value);
    }
    std::vector<TierSummary> present;
    for (std::size_t i = 0; i < link_tier_count; ++i) {
        TierSummary& tier = tiers[i];
        tier.tier = static_cast<LinkTier>(i);
        if (tier.links == 0) continue;
        if (tier.tier == LinkTier::aggregation || tier.tier == LinkTier::core) {
            tier.cables = tier.links;
            tier.optics = 2 * tier.links;
        }
        present.push_back(tier);
    }
    std::int64_t host_ports = 0;
    const std::int64_t per_port = cluster.shape().nics_per_port;
    for (std::uint32_t tor = 0; tor < cluster.shape().tor_count(); ++tor) {
        std::int64_t nics = 0;
        for (LinkId id : cluster.out_links(cluster.tor_vertex(tor))) nics += cluster.link(id).tier == LinkTier::host;
        host_ports += (nics + per_port - 1) / per_port;
    }
    for (TierSummary& tier : present) {
        if (tier.tier != LinkTier::host) continue;
        tier.cables = host_ports;
        tier.optics = host_ports + tier.links;
    }
    return present;
}

std::string fabric_table(const Cluster& cluster) {
    std::string out;
    print_counts(out, cluster);
    print_tiers(out, cluster);
    print_checks(out, cluster);
    return out;
}

}  // namespace rehearse

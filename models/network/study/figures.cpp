#include "models/network/study/figures.hpp"

#include <algorithm>

namespace rehearse {

namespace {

double microseconds_of(SimDuration time) { return time.seconds() * 1e6; }

void add_flows(const StudyRecord& record, StudyFigures& figures) {
    std::vector<double> fct, slowdown;
    SimTime first{INT64_MAX};
    for (const FlowRecord& flow : record.flows) {
        figures.retransmissions += flow.retransmissions;
        figures.timeouts += flow.timeouts;
        figures.stalled_us = std::max(figures.stalled_us, flow.stalled.seconds() * 1e6);
        first = std::min(first, flow.start);
        if (flow.end != FlowEnd::whole) {
            ++(flow.end == FlowEnd::failed ? figures.failed : figures.blocked);
            continue;
        }
        const SimDuration time = flow.finished - flow.start;
        figures.bytes += flow.bytes;
        fct.push_back(microseconds_of(time));
        if (flow.idle > SimDuration{0})
            slowdown.push_back(static_cast<double>(time.value) / static_cast<double>(flow.idle.value));
    }
    figures.flows = record.flows.size();
    figures.fct_us = spread_of(std::move(fct));
    figures.slowdown = spread_of(std::move(slowdown));
    figures.end_us = record.end.seconds() * 1e6;
    const double seconds = record.flows.empty() ? 0 : (record.end - first).seconds();
    if (seconds > 0) figures.goodput_gbps = static_cast<double>(figures.bytes.value) * 8e-9 / seconds;
}

void add_links(const StudyRecord& record, const Cluster& cluster, StudyFigures& figures) {
    std::array<std::vector<LinkLoad>, link_tier_count> loads;
    std::array<LinkId, link_tier_count> longest;
    const double seconds = record.end.seconds();
    for (std::uint32_t l = 0; l < record.links.size(); ++l) {
        const Link& link = cluster.link(LinkId{l});
        const PortCounters& port = record.links[l];
        const auto tier = static_cast<std::size_t>(link.tier);
        add_to(figures.tiers[tier], port);
        if (port.bytes > 0 && seconds > 0)
            loads[tier].push_back(
                {LinkId{l}, static_cast<double>(port.bytes) / (link.rate.bytes_per_second() * seconds)});
        LinkId& best = longest[tier];
        if (port.queue_peak > 0 && (!best.valid() || port.queue_peak > record.links[best.value].queue_peak))
            best = LinkId{l};
    }
    for (std::vector<LinkLoad>& tier : loads) {
        const std::size_t kept = std::min(loads_per_tier, tier.size());
        std::partial_sort(tier.begin(), tier.begin() + static_cast<std::ptrdiff_t>(kept), tier.end(),
                          [](const LinkLoad& a, const LinkLoad& b) {
                              return a.utilisation != b.utilisation ? a.utilisation > b.utilisation : a.link < b.link;
                          });
        figures.busiest.insert(figures.busiest.end(), tier.begin(), tier.begin() + static_cast<std::ptrdiff_t>(kept));
    }
    for (const LinkId link : longest) {
        if (link.valid()) figures.queues_longest.push_back(link);
    }
    for (const PortCounters& tier : figures.tiers) add_to(figures.sum, tier);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    double sum = 0;
    for (const double value : values) sum += value;
    const auto at = [&](double q) {
        const auto index = static_cast<std::size_t>(q * static_cast<double>(values.size()));
        return values[std::min(index, values.size() - 1)];
    };
    return {values.front(), sum / static_cast<double>(values.size()), at(0.5), at(0.99), values.back()};
}

StudyFigures figures_of(const StudyRecord& record, const Cluster& cluster) {
    StudyFigures figures;
    add_flows(record, figures);
    add_links(record, cluster, figures);
    return figures;
}

}  // namespace rehearse

#include "models/workload/price_collective.hpp"

#include <algorithm>
#include <cmath>

#include "models/collectives/expert_exchange.hpp"
#include "models/compute/cost.hpp"

namespace rehearse {

namespace {

// Of all rows of an average rank.
double rows_bytes(const LocalCollective& collective) {
    const ExchangeShape& shape = collective.exchange;
    return shape.tokens * static_cast<double>(shape.top_k) * shape.token_bytes;
}

}  // namespace

// Of `share` of the collective's bytes; `busiest` stretches an exchange.
double CollectivePricing::seconds(const LocalCollective& collective, double share, double busiest) const {
    const double bytes = collective.bytes * share;
    switch (collective.kind) {
        case LocalCollectiveKind::none: return 0;
        case LocalCollectiveKind::ring_exchange: return context_seconds(bytes);
        case LocalCollectiveKind::all_reduce: return tensor_seconds(bytes, CollectiveKind::all_reduce);
        case LocalCollectiveKind::all_gather: return tensor_seconds(bytes, CollectiveKind::all_gather);
        case LocalCollectiveKind::reduce_scatter: return tensor_seconds(bytes, CollectiveKind::reduce_scatter);
        case LocalCollectiveKind::all_to_all: return all_to_all_seconds(bytes, fabric_.tensor);
        case LocalCollectiveKind::dispatch:
        case LocalCollectiveKind::combine: return rows_seconds(collective, share, busiest);
    }
    return 0;
}

double CollectivePricing::all_to_all_seconds(double bytes, GroupShape group) const {
    const double n = group.size, remote = (n - 1) / n * bytes;
    if (const PiecewiseCurve* curve = profile_.measured.collective("all_to_all", group.size))
        return seconds_at(*curve, bytes);
    if (group.nodes == 1)
        return local_exchange_seconds(profile_, remote / profile_.all_to_all_rate.value, group.size);
    const double outside = bytes * (1.0 - 1.0 / group.nodes);
    return outside / network_rate(1) + profile_.message_latency.seconds();
}

// In one node: whether all tokens are gathered. Only the time of routed rows grows with the busiest rank.
bool CollectivePricing::gathers(const LocalCollective& collective) const {
    const std::optional<ExchangeForm> form = collective.exchange.form;
    if (form || fabric_.expert.nodes > 1) return form == ExchangeForm::gather;
    return rows_as_gather(collective, 1) < rows_direct(collective, 1);
}

double CollectivePricing::rows_seconds(const LocalCollective& collective, double share, double busiest) const {
    const std::optional<ExchangeForm> form = collective.exchange.form;
    if (fabric_.expert.nodes > 1) return rows_in_form(collective, form, share * busiest);
    if (gathers(collective)) return rows_as_gather(collective, share);
    if (collective.hiding == Hiding::streamed && collective.kind == LocalCollectiveKind::dispatch) {
        const PiecewiseCurve* curve = profile_.measured.collective("streamed_dispatch", fabric_.expert.size);
        if (curve != nullptr) return seconds_at(*curve, rows_bytes(collective) * share * busiest);
    }
    if (!form || form == ExchangeForm::direct) return rows_direct(collective, share * busiest);
    return rows_in_form(collective, form, share * busiest);
}

double CollectivePricing::rows_direct(const LocalCollective& collective, double share) const {
    return all_to_all_seconds(rows_bytes(collective) * share, fabric_.expert);
}

// The forms of collectives/expert_exchange.hpp; without one, the fastest.
double CollectivePricing::rows_in_form(const LocalCollective& collective, std::optional<ExchangeForm> form,
                                       double share) const {
    const ExchangeShape& shape = collective.exchange;
    const auto [ranks, nodes] = fabric_.expert;
    ExpertExchange exchange;
    exchange.ranks = ranks;
    exchange.gpus_per_node = ranks % nodes == 0 ? ranks / nodes : 1;
    exchange.tokens = std::llround(shape.tokens);
    exchange.experts = shape.experts;
    exchange.top_k = shape.top_k;
    exchange.node_limit = shape.node_limit;
    exchange.bytes_per_token = Bytes{std::llround(shape.token_bytes * share)};
    const ExchangeProfile& profile = profile_.exchange;
    const bool is_beside = collective.hiding != Hiding::none, is_cached = is_on(shape.cached);
    Ratio rate = profile.network_efficiency;
    if (is_beside && collective.kind == LocalCollectiveKind::combine) rate = profile.combine_beside;
    else if (is_beside) rate = is_cached ? profile.dispatch_cached_beside : profile.dispatch_beside;
    const LocalLink& link = local_link(profile_, static_cast<std::uint32_t>(exchange.gpus_per_node));
    ExchangeRates rates;
    rates.nvlink = link.bus * profile_.all_to_all_rate;
    rates.nic = fabric_.node_network * Ratio{rate.value / fabric_.ranks_per_node};
    rates.latency_nvlink = link.latency;
    rates.latency_network = profile_.message_latency;
    rates.rounds = static_cast<double>(profile_.overlap_chunks);
    if (is_beside) rates.software = is_cached ? profile.notify_cached : profile.notify;
    const ExchangeCost cost = form ? exchange_cost(exchange, rates, *form) : choose_exchange(exchange, rates);
    return cost.time.seconds();
}

double CollectivePricing::rows_as_gather(const LocalCollective& collective, double share) const {
    const ExchangeShape& shape = collective.exchange;
    const double n = fabric_.expert.size;
    return local_collective_seconds(profile_, CollectiveKind::all_gather, shape.tokens * n * shape.token_bytes * share,
                                    fabric_.expert.size);
}

// Share of the multiprocessors that it takes while it runs.
double CollectivePricing::taken_by(const LocalCollective& collective) const {
    switch (collective.kind) {
        case LocalCollectiveKind::all_gather:
        case LocalCollectiveKind::reduce_scatter: return profile_.gather_multiprocessors.value;
        case LocalCollectiveKind::dispatch:
        case LocalCollectiveKind::combine:
            if (gathers(collective)) return profile_.gather_multiprocessors.value;
            break;
        default: break;
    }
    return profile_.communication_multiprocessors.value;
}

double CollectivePricing::tensor_seconds(double bytes, CollectiveKind kind) const {
    const auto [n, nodes] = fabric_.tensor;
    if (nodes == 1) return local_collective_seconds(profile_, kind, bytes, n);
    const double latency = profile_.message_latency.seconds() * (nodes - 1);
    const int passes = kind == CollectiveKind::all_reduce ? 2 : 1;
    return passes * ((n - 1.0) / n * bytes / network_rate(static_cast<double>(n) / nodes) + latency);
}

double CollectivePricing::context_seconds(double bytes) const {
    const auto [n, nodes] = fabric_.context;
    if (n <= 1) return 0;
    if (nodes == 1) return local_exchange_seconds(profile_, bytes, n);
    return bytes / network_rate(1) + profile_.message_latency.seconds();
}

// Bytes per second of so many ranks of a node over their share of its NICs.
double CollectivePricing::network_rate(double ranks) const {
    const double share = std::min(1.0, ranks / fabric_.ranks_per_node);
    return fabric_.node_network.bytes_per_second() * share * profile_.network_efficiency.value;
}

}  // namespace rehearse

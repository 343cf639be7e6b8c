#include "models/collectives/expert_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "sim/base/checks.hpp"

namespace rehearse {

std::string_view name(ExchangeForm form) {
    constexpr std::string_view names[] = {"direct", "gather", "hierarchical", "ring", "tree"};
    return names[static_cast<std::size_t>(form)];
}

namespace {

// P(d of the places hold the k experts), d = 0..k: a chain over the draws. After j of them on d places, the next expert
// is on a new one with probability (E - d s) / (E - j).
std::vector<double> distinct_distribution(double places, double experts, std::int64_t k) {
    const double on_a_place = experts / places;
    std::vector<double> chance(static_cast<std::size_t>(k) + 1, 0.0);
    chance[0] = 1;
    for (std::int64_t j = 0; j < k; ++j) {
        for (std::int64_t d = j; d >= 0; --d) {
            const double next = std::clamp((experts - static_cast<double>(d) * on_a_place) /
                                               (experts - static_cast<double>(j)), 0.0, 1.0);
            const double here = chance[static_cast<std::size_t>(d)];
            chance[static_cast<std::size_t>(d)] = here * (1 - next);
            chance[static_cast<std::size_t>(d) + 1] += here * next;
        }
    }
    return chance;
}

double mean_distinct(double places, double experts, std::int64_t k, double most) {
    const std::vector<double> chance = distinct_distribution(places, experts, k);
    double mean = 0;
    for (std::size_t d = 0; d < chance.size(); ++d) mean += chance[d] * std::min(static_cast<double>(d), most);
    return mean;
}

double mean_set_bits(std::int64_t m) {
    std::int64_t bits = 0;
    for (std::int64_t i = 0; i < m; ++i) bits += std::popcount(static_cast<std::uint64_t>(i));
    return static_cast<double>(bits) / static_cast<double>(m);
}

std::int64_t rounds_of(std::int64_t m) { return std::bit_width(static_cast<std::uint64_t>(m - 1)); }  // ceil(log2 m)

double seconds_for(double bytes, Bandwidth rate) {
    if (bytes <= 0) return 0;
    REHEARSE_CHECK(rate.value > 0, "a rate that carries bytes is positive");
    return bytes / rate.bytes_per_second();
}

}  // namespace

ExchangeVolume exchange_volume(const ExpertExchange& x, ExchangeForm form) {
    const DistinctTargets distinct = distinct_targets(x);  // checks the shape for every form
    const auto n = static_cast<double>(x.ranks), g = static_cast<double>(x.gpus_per_node);
    const double nodes = n / g;
    const double once = static_cast<double>(x.tokens) * static_cast<double>(x.bytes_per_token.value);  // T b
    const double all = once * static_cast<double>(x.top_k);                                            // S
    const std::int64_t to_nodes = x.nodes() - 1, to_gpus = x.gpus_per_node - 1;
    switch (form) {
        case ExchangeForm::direct: return {all * (n - g) / n, all * (g - 1) / n, x.ranks - x.gpus_per_node, to_gpus};
        case ExchangeForm::gather: return {once * (nodes - 1), once * nodes * (g - 1), to_nodes, to_gpus};
        case ExchangeForm::hierarchical:
            return {once * distinct.nodes * (nodes - 1) / nodes, once * distinct.ranks * (g - 1) / g, to_nodes,
                    to_gpus};
        case ExchangeForm::ring: {
            const double forwarded = all * (n - 1) / 2;
            return {to_nodes > 0 ? forwarded : 0, to_gpus > 0 ? forwarded : 0, to_nodes > 0 ? x.ranks - 1 : 0,
                    to_nodes > 0 ? 0 : x.ranks - 1};
        }
        case ExchangeForm::tree:
            return {all * mean_set_bits(x.nodes()), all * mean_set_bits(x.gpus_per_node), rounds_of(x.nodes()),
                    rounds_of(x.gpus_per_node)};
    }
    return {};
}

SimDuration exchange_time(const ExchangeVolume& v, const ExchangeRates& rates, ExchangeForm form) {
    REHEARSE_CHECK(rates.rounds >= 1, "at least one round");
    const bool gathers = form == ExchangeForm::gather && rates.nvlink_gather.value > 0;
    const double net = seconds_for(v.network, rates.nic);
    const double nvl = seconds_for(v.nvlink, gathers ? rates.nvlink_gather : rates.nvlink);
    const auto m_net = static_cast<double>(v.messages_network), m_nvl = static_cast<double>(v.messages_nvlink);
    const double a_net = m_net > 0 ? rates.latency_network.seconds() : 0;
    const double a_nvl = m_nvl > 0 ? rates.latency_nvlink.seconds() : 0;
    const double fixed = rates.software.seconds() + (m_net + m_nvl) * rates.per_message.seconds();
    const double pipelined = std::max(net, nvl) + std::min(net, nvl) / rates.rounds;
    switch (form) {
        case ExchangeForm::direct: return seconds(fixed + std::max(a_net + net, a_nvl + nvl));
        case ExchangeForm::hierarchical: return seconds(fixed + a_net + a_nvl + pipelined);
        case ExchangeForm::gather: return seconds(fixed + m_net * a_net + m_nvl * a_nvl + pipelined);
        case ExchangeForm::ring: return seconds(fixed + m_net * a_net + m_nvl * a_nvl + std::max(net, nvl));
        case ExchangeForm::tree: return seconds(fixed + m_net * a_net + m_nvl * a_nvl + net + nvl);
    }
    return {};
}

DistinctTargets distinct_targets(const ExpertExchange& x) {
    REHEARSE_CHECK(x.ranks > 0 && x.gpus_per_node > 0 && x.ranks % x.gpus_per_node == 0, "whole nodes");
    REHEARSE_CHECK(x.experts % x.ranks == 0 && x.experts > 0, "as many experts on every rank");
    REHEARSE_CHECK(x.top_k > 0 && x.top_k <= x.experts, "k experts of those there are");
    const auto nodes = static_cast<double>(x.nodes()), experts = static_cast<double>(x.experts);
    const double limit = x.node_limit > 0 ? std::min(static_cast<double>(x.node_limit), nodes) : nodes;
    const double eligible = experts * limit / nodes;
    REHEARSE_CHECK(static_cast<double>(x.top_k) <= eligible, "the nodes of a token hold its k experts");
    return {mean_distinct(nodes, experts, x.top_k, limit),
            mean_distinct(limit * static_cast<double>(x.gpus_per_node), eligible, x.top_k, eligible)};
}

ExchangeCost exchange_cost(const ExpertExchange& exchange, const ExchangeRates& rates, ExchangeForm form) {
    const ExchangeVolume v = exchange_volume(exchange, form);
    return {form, Bytes{detail::round_up_to_int64(v.network)}, Bytes{detail::round_up_to_int64(v.nvlink)},
            v.messages_network, v.messages_nvlink, exchange_time(v, rates, form)};
}

ExchangeCost choose_exchange(const ExpertExchange& exchange, const ExchangeRates& rates) {
    ExchangeCost best = exchange_cost(exchange, rates, exchange_forms[0]);
    for (const ExchangeForm form : exchange_forms) {
        const ExchangeCost cost = exchange_cost(exchange, rates, form);
        if (cost.time < best.time) best = cost;
    }
    return best;
}

}  // namespace rehearse

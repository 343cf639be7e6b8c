#include "models/collectives/deepep.hpp"

#include <cmath>

#include "models/compute/fit.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

constexpr std::int64_t hidden = 7168, experts = 256, top_k = 8, node_limit = 4, gpus_per_node = 8;
constexpr std::int64_t dispatch_bytes = hidden + hidden / 128 * 4, combine_bytes = 2 * hidden;

Bandwidth gigabytes(double rate) { return Bandwidth{detail::round_to_int64(rate * 8e9)}; }

// The values of one mode's parameters, in the order of `fitted_parameters`.
DeepEpParameters with_values(DeepEpMode mode, const std::vector<double>& values) {
    DeepEpParameters parameters;
    if (mode == DeepEpMode::normal) {
        parameters.nvlink_normal = gigabytes(values[0]);
        parameters.rounds = values[1];
    } else {
        parameters.fixed = seconds(values[0] * 1e-6);
        parameters.nvlink_low_latency = gigabytes(values[1]);
        parameters.nic_dispatch = gigabytes(values[2]);
        parameters.nic_combine = gigabytes(values[3]);
    }
    return parameters;
}

// Bounds are those of the hardware: NVLink of an H800 200 GB/s one way, a NIC 50 GB/s.
std::vector<FitParameter> fitted_parameters(DeepEpMode mode) {
    if (mode == DeepEpMode::normal)
        return {{"nvlink_normal", 150, 50, 200, "GB/s"}, {"rounds", 4, 1, 32, "rounds"}};
    return {{"fixed", 30, 0, 100, "us"},
            {"nvlink_low_latency", 150, 50, 200, "GB/s"},
            {"nic_dispatch", 45, 20, 50, "GB/s"},
            {"nic_combine", 45, 20, 50, "GB/s"}};
}

DeepEpParameters fit_mode(DeepEpMode mode, const std::vector<DeepEpRow>& all) {
    std::vector<DeepEpRow> rows;
    for (const DeepEpRow& row : all) {
        if (row.mode == mode && row.rate > 0) rows.push_back(row);
    }
    REHEARSE_CHECK(!rows.empty(), "a fit has rows of each mode");
    const ResidualFunction residuals = [&](const std::vector<double>& values) {
        std::vector<double> r;
        for (const DeepEpRow& row : rows) r.push_back(std::log(deepep_rate(row, with_values(mode, values)) / row.rate));
        return r;
    };
    const FitOptions options{.loss_scale = 1, .iterations = 100, .step = 1e-3, .cost_tolerance = 1e-12};
    return with_values(mode, fit_bounded(fitted_parameters(mode), residuals, residuals, options).values);
}

}  // namespace

ExpertExchange deepep_exchange(const DeepEpRow& row) {
    const bool is_normal = row.mode == DeepEpMode::normal;
    ExpertExchange exchange;
    exchange.ranks = row.ranks;
    exchange.gpus_per_node = row.nvlink == Switch::on ? gpus_per_node : 1;
    exchange.tokens = is_normal ? 4096 : 128;
    exchange.experts = experts;
    exchange.top_k = top_k;
    exchange.node_limit = is_normal ? node_limit : 0;  // low latency sends to any expert
    exchange.bytes_per_token = Bytes{row.phase == DeepEpPhase::dispatch ? dispatch_bytes : combine_bytes};
    return exchange;
}

ExchangeRates deepep_rates(const DeepEpRow& row, const DeepEpParameters& p) {
    ExchangeRates rates;
    if (row.mode == DeepEpMode::normal) {
        rates.nvlink = p.nvlink_normal;
        rates.nic = p.nic;
        rates.rounds = p.rounds;
    } else {
        rates.nvlink = p.nvlink_low_latency;
        rates.nic = row.phase == DeepEpPhase::dispatch ? p.nic_dispatch : p.nic_combine;
        rates.software = p.fixed;
    }
    return rates;
}

double deepep_logical_bytes(const DeepEpRow& row) {
    const ExpertExchange exchange = deepep_exchange(row);
    const DistinctTargets distinct = distinct_targets(exchange);
    const double once = static_cast<double>(exchange.tokens) * static_cast<double>(exchange.bytes_per_token.value);
    if (row.mode == DeepEpMode::low_latency) return once * top_k;
    return once * (exchange.nodes() > 1 ? distinct.nodes : distinct.ranks);
}

double deepep_rate(const DeepEpRow& row, const DeepEpParameters& parameters) {
    const ExchangeForm form = row.mode == DeepEpMode::normal ? ExchangeForm::hierarchical : ExchangeForm::direct;
    const ExchangeCost cost = exchange_cost(deepep_exchange(row), deepep_rates(row, parameters), form);
    return deepep_logical_bytes(row) / cost.time.seconds();
}

DeepEpParameters fit_deepep(const std::vector<DeepEpRow>& rows) {
    DeepEpParameters parameters = fit_mode(DeepEpMode::normal, rows);
    const DeepEpParameters low = fit_mode(DeepEpMode::low_latency, rows);
    parameters.fixed = low.fixed;
    parameters.nvlink_low_latency = low.nvlink_low_latency;
    parameters.nic_dispatch = low.nic_dispatch;
    parameters.nic_combine = low.nic_combine;
    return parameters;
}

}  // namespace rehearse

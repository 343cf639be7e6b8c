// Exchanges of Megatron-Core on H100, with what DeepEP's kernels say about the links of H800.
#include "models/collectives/expert_exchange.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/validation/deepep_suite.hpp"
#include "scenarios/validation/suites.hpp"

namespace rehearse {

namespace {

constexpr Ratio h100_nvlink{450.0 / 200.0};  // of H800

ExpertExchange bf16_exchange(std::int64_t ranks) {
    ExpertExchange exchange;
    exchange.ranks = ranks;
    exchange.gpus_per_node = 8;
    exchange.tokens = 4096;
    exchange.experts = 256;
    exchange.top_k = 8;
    exchange.node_limit = 4;
    exchange.bytes_per_token = Bytes{2 * 7168};
    return exchange;
}

ExchangeRates h100_rates(const DeepEpParameters& h800, DeepEpPhase phase) {
    ExchangeRates rates;
    rates.nvlink = h800.nvlink_low_latency * h100_nvlink;
    rates.nic = phase == DeepEpPhase::dispatch ? h800.nic_dispatch : h800.nic_combine;
    rates.software = h800.fixed;
    rates.rounds = h800.rounds;
    return rates;
}

FigurePredictions predict_exchanges(const PublishedTable&) {
    const DeepEpParameters h800 = fit_deepep(read_deepep(data_path("tests/validation/deepep.yaml").string()));
    const auto microseconds_of = [&](std::int64_t ranks, DeepEpPhase phase, ExchangeForm form) {
        return 1e6 * exchange_cost(bf16_exchange(ranks), h100_rates(h800, phase), form).time.seconds();
    };
    const auto dispatch = DeepEpPhase::dispatch, combine = DeepEpPhase::combine;
    const auto nccl = ExchangeForm::direct, hybrid = ExchangeForm::hierarchical;
    return {{"NCCL, EP8 dispatch", microseconds_of(8, dispatch, nccl)},
            {"HybridEP, EP8 dispatch", microseconds_of(8, dispatch, hybrid)},
            {"NCCL, EP64 dispatch", microseconds_of(64, dispatch, nccl)},
            {"HybridEP, EP64 dispatch", microseconds_of(64, dispatch, hybrid)},
            {"NCCL, EP64 combine", microseconds_of(64, combine, nccl)},
            {"HybridEP, EP64 combine", microseconds_of(64, combine, hybrid)}};
}

}  // namespace

SuiteEntry megatron_exchange_suite() {
    return figure_suite("megatron-exchange", "NCCL's all-to-all and HybridEP on H100", predict_exchanges);
}

}  // namespace rehearse

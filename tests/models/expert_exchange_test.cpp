// Bytes, messages and time of dispatch and combine against arithmetic done by hand and against drawn tokens.
#include "models/collectives/expert_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

ExchangeRates h800() {
    ExchangeRates rates;
    rates.nvlink = gigabytes_per_second(155);
    rates.nvlink_gather = gigabytes_per_second(179);
    rates.nic = gigabytes_per_second(50);
    rates.latency_nvlink = nanoseconds(3300);
    rates.latency_network = nanoseconds(3700);
    rates.software = microseconds(10);
    rates.per_message = nanoseconds(200);
    rates.rounds = 5;
    return rates;
}

ExpertExchange exchange(std::int64_t ranks, std::int64_t g, std::int64_t tokens, std::int64_t experts, std::int64_t k,
                        std::int64_t limit = 0) {
    return {ranks, g, tokens, experts, k, limit, Bytes{1000}};
}

// MegaScale-MoE (arXiv 2505.11432), expert part of one layer: 2 b s h (n - 1) / n elements x k / n a rank for dispatch
// and combine, 44.0 MB for n = 8, s = 8192, h = 4096, k = 3 in BF16. Here one of the two: T = s / n tokens of 8,192
// bytes.
TEST(ExpertExchange, DirectMovesTheVolumeOfThePaper) {
    ExpertExchange x = exchange(8, 8, 1024, 32, 3);
    x.bytes_per_token = Bytes{4096 * 2};
    const ExchangeCost cost = exchange_cost(x, h800(), ExchangeForm::direct);
    EXPECT_EQ(cost.nvlink, Bytes{1024 * 3 * 8192 * 7 / 8});  // 22.0 MB
    EXPECT_EQ(cost.network, Bytes{0});
    EXPECT_EQ(cost.messages_nvlink, 7);
}

// 1,440 ranks of 8 to a node: 1,432 + 7 = 1,439 messages become 179 + 7.
TEST(ExpertExchange, TwoLevelsCutMessages) {
    const ExpertExchange x = exchange(1440, 8, 4096, 1440, 2);
    const ExchangeCost direct = exchange_cost(x, h800(), ExchangeForm::direct);
    EXPECT_EQ(direct.messages_network + direct.messages_nvlink, 1439);
    const ExchangeCost two = exchange_cost(x, h800(), ExchangeForm::hierarchical);
    EXPECT_EQ(two.messages_network, 179);
    EXPECT_EQ(two.messages_nvlink, 7);
}

// Top-2 on 32 nodes: 1 - D / 2 = P(both experts on one node) / 2 = (63 / 2047) / 2 = 1.54 % with 2,048 experts, 1 / 64
// = 1.56 % with ever more. Not 63 %.
TEST(ExpertExchange, DeduplicationSavesLittleAtTopTwo) {
    const ExpertExchange x = exchange(256, 8, 3906, 2048, 2);
    EXPECT_NEAR(1 - distinct_targets(x).nodes / 2, 63.0 / 2047 / 2, 1e-12);
    const double direct = static_cast<double>(exchange_cost(x, h800(), ExchangeForm::direct).network.value);
    const double once = static_cast<double>(exchange_cost(x, h800(), ExchangeForm::hierarchical).network.value);
    EXPECT_NEAR(1 - once / direct, 0.0154, 0.0001);
}

// Payloads are distinct, so a tree never sends less than direct; against a ring that forwards, everything is little.
TEST(ExpertExchange, ATreeCannotCutBytes) {
    for (const std::int64_t nodes : {1, 2, 3, 5, 16, 32, 180}) {
        for (const std::int64_t g : {1, 4, 8}) {
            const ExpertExchange x = exchange(nodes * g, g, 512, nodes * g, 1);
            const ExchangeCost direct = exchange_cost(x, h800(), ExchangeForm::direct);
            const ExchangeCost tree = exchange_cost(x, h800(), ExchangeForm::tree);
            EXPECT_GE(tree.network, direct.network) << nodes << " x " << g;
            EXPECT_LE(tree.messages_network + tree.messages_nvlink,
                      std::max<std::int64_t>(direct.messages_network + direct.messages_nvlink, 1));
        }
    }
    const ExpertExchange x = exchange(256, 8, 512, 256, 2);
    const ExchangeCost tree = exchange_cost(x, h800(), ExchangeForm::tree);
    EXPECT_EQ(tree.network, Bytes{512 * 2 * 1000 * 5 / 2});  // log2(32) / 2 of S
    EXPECT_LT(100 * tree.network, 37 * exchange_cost(x, h800(), ExchangeForm::ring).network);  // "-63 %" and more
}

// All-gather wins on one node of 8 from k = 7 on: 7 T b / 179 against k T b 7/8 / 155 (MegaScale-MoE: "top-k > 6").
TEST(ExpertExchange, GatherWinsOnOneNodeWithManyExpertsAToken) {
    ExchangeRates rates = h800();
    rates.latency_nvlink = {};
    for (std::int64_t k = 1; k <= 8; ++k) {
        const ExpertExchange x = exchange(8, 8, 8192, 8, k);
        const SimDuration gather = exchange_cost(x, rates, ExchangeForm::gather).time;
        const SimDuration direct = exchange_cost(x, rates, ExchangeForm::direct).time;
        EXPECT_EQ(gather < direct, k > 6) << k;
    }
}

// Distinct nodes and ranks against tokens drawn one by one; 8 nodes of 8, top-8 of 256, the 4 nodes with the best
// single expert (DeepEP, tests/test_internode.py).
TEST(ExpertExchange, DistinctTargetsAreThoseOfDrawnTokens) {
    const Stream stream(3, "test");
    for (const std::uint32_t nodes : {2U, 4U, 8U}) {
        const std::uint32_t experts = 256, limit = std::min(4U, nodes), tokens = 4000;
        double on_nodes = 0, on_ranks = 0;
        for (std::uint32_t t = 0; t < tokens; ++t) {
            std::vector<std::pair<double, std::uint32_t>> order(experts);
            for (std::uint32_t e = 0; e < experts; ++e) order[e] = {stream.uniform(t, e), e};
            std::sort(order.begin(), order.end());
            std::set<std::uint32_t> allowed, hit_nodes, hit_ranks;
            for (const auto& [score, e] : order) {
                if (allowed.size() < limit) allowed.insert(e / (experts / nodes));
            }
            std::uint32_t chosen = 0;
            for (const auto& [score, e] : order) {
                if (chosen == 8 || allowed.count(e / (experts / nodes)) == 0) continue;
                hit_nodes.insert(e / (experts / nodes));
                hit_ranks.insert(e / (experts / (8 * nodes)));
                ++chosen;
            }
            on_nodes += static_cast<double>(hit_nodes.size()) / tokens;
            on_ranks += static_cast<double>(hit_ranks.size()) / tokens;
        }
        const DistinctTargets distinct = distinct_targets(exchange(8 * nodes, 8, 4096, experts, 8, 4));
        EXPECT_NEAR(distinct.nodes / on_nodes, 1, 0.005) << nodes;
        EXPECT_NEAR(distinct.ranks / on_ranks, 1, 0.02) << nodes;
    }
}

// Two nodes of 2, T b = 1 MB, k = 1, q = 2. Network 0.5 MB / 50 GB/s = 10 us, NVLink 0.5 MB / 100 GB/s = 5 us.
TEST(ExpertExchange, TimesOfTheForms) {
    ExchangeRates rates;
    rates.nvlink = gigabytes_per_second(100);
    rates.nic = gigabytes_per_second(50);
    rates.latency_nvlink = microseconds(1);
    rates.latency_network = microseconds(2);
    rates.software = microseconds(100);
    rates.per_message = microseconds(10);
    rates.rounds = 2;
    const ExpertExchange x = exchange(4, 2, 1000, 4, 1);
    const auto time = [&](ExchangeForm form) { return exchange_cost(x, rates, form).time; };
    EXPECT_EQ(time(ExchangeForm::direct), nanoseconds(100'000 + 30'000 + 12'000));  // NVLink 0.25 MB beside it
    EXPECT_EQ(time(ExchangeForm::hierarchical), nanoseconds(100'000 + 20'000 + 3'000 + 10'000 + 2'500));
    // gather: network 1 MB 20 us, NVLink 2 MB 20 us
    EXPECT_EQ(time(ExchangeForm::gather), nanoseconds(100'000 + 20'000 + 3'000 + 20'000 + 10'000));
    // ring: 1.5 MB through the NIC 30 us, 3 steps of 12 us
    EXPECT_EQ(time(ExchangeForm::ring), nanoseconds(100'000 + 36'000 + 30'000));
    // tree: 0.5 MB on both levels, one round each
    EXPECT_EQ(time(ExchangeForm::tree), nanoseconds(100'000 + 12'000 + 11'000 + 10'000 + 5'000));
}

TEST(ExpertExchange, ChoosesByTime) {
    // Few bytes to many ranks: messages rule. Many bytes, few nodes a token: not sending twice rules.
    const ExpertExchange few = exchange(4096, 8, 4, 4096, 2);
    EXPECT_EQ(choose_exchange(few, h800()).form, ExchangeForm::tree);
    const ExpertExchange many = exchange(64, 8, 4096, 256, 8, 4);
    EXPECT_EQ(choose_exchange(many, h800()).form, ExchangeForm::hierarchical);
    for (const ExchangeForm form : exchange_forms)
        EXPECT_LE(choose_exchange(many, h800()).time, exchange_cost(many, h800(), form).time) << name(form);
}

TEST(ExpertExchange, OneRankSendsNothing) {
    for (const ExchangeForm form : exchange_forms) {
        const ExchangeCost cost = exchange_cost(exchange(1, 1, 100, 8, 2), h800(), form);
        EXPECT_EQ(cost.network + cost.nvlink, Bytes{0}) << name(form);
        EXPECT_EQ(cost.time, h800().software) << name(form);
    }
}

TEST(ExpertExchange, RefusesShapesThatDoNotFit) {
    const auto cost = [](const ExpertExchange& x) { return exchange_cost(x, h800(), ExchangeForm::direct); };
    EXPECT_THROW(cost(exchange(12, 8, 1, 12, 1)), InvariantBroken);
    EXPECT_THROW(cost(exchange(16, 8, 1, 24, 1)), InvariantBroken);
    EXPECT_THROW(cost(exchange(16, 8, 1, 16, 17)), InvariantBroken);
    EXPECT_THROW(cost(exchange(64, 8, 1, 64, 16, 1)), InvariantBroken);  // one node has 8 experts
}

}  // namespace
}  // namespace rehearse

// The byte matrix of a dispatch: what is conserved, and distinct destinations against the hypergeometric expectation.
#include "models/workload/routing/exchange_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/collectives/expert_exchange.hpp"
#include "models/workload/routing/routing.hpp"
#include "models/workload/routing/token_draw.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

std::vector<std::uint32_t> contiguous(std::uint32_t experts, std::uint32_t gpus) {
    std::vector<std::uint32_t> gpu(experts);
    for (std::uint32_t e = 0; e < experts; ++e) gpu[e] = e / (experts / gpus);
    return gpu;
}

// 1 - C(E - s, k) / C(E, k): a place with s of E equal experts is reached by a token with k of them.
double reached(double all, double there, std::uint32_t k) {
    double none = 1;
    for (std::uint32_t i = 0; i < k; ++i) none *= (all - there - i) / (all - i);
    return 1 - none;
}

// Copies per assignment: row sums are tokens x k, column sums are what the GPU's experts were given.
TEST(ExchangeBytes, ConserveAssignments) {
    RoutingSpec zipf;
    zipf.kind = RoutingKind::zipf;
    const TokenDraw draw(inclusion_probabilities(expert_shares(zipf, 32, 0, 0, 1), 3));
    const auto counts = draw.tokens_per_source(16, 512, 0, 0, 1);
    const auto slots = ExpertSlots::single(contiguous(32, 16));
    const ByteMatrix matrix = exchange_bytes({16, 8, 3, 512, 2.0}, counts, slots, CopiesPer::assignment);
    for (std::uint32_t s = 0; s < 16; ++s) {
        double row = 0;
        for (std::uint32_t d = 0; d < 16; ++d) row += matrix.at(s, d);
        EXPECT_NEAR(row, 512 * 3 * 2.0, 1e-6);
    }
    EXPECT_NEAR(matrix.at(3, 5), 2.0 * (counts[3 * 32 + 10] + counts[3 * 32 + 11]), 1e-9);
    EXPECT_GT(matrix.received_max(), matrix.sent_max());  // skew meets at a receiver; every sender has as many tokens
}

// Equal counts: copies per rank and per node are the hypergeometric expectation exactly.
TEST(ExchangeBytes, EqualExpertsReachDistinctPlacesAsDrawnWithoutReplacement) {
    const std::uint32_t ranks = 32, experts = 256, k = 8;
    const std::vector<std::uint32_t> counts(ranks * experts, 4096 * k / experts);
    const auto slots = ExpertSlots::single(contiguous(experts, ranks));
    const ExchangeRequest request{ranks, 8, k, 4096, 1.0};
    const ByteMatrix per_rank = exchange_bytes(request, counts, slots, CopiesPer::rank);
    EXPECT_NEAR(per_rank.at(0, 17), 4096 * reached(256, 8, k), 1e-6);
    const ByteMatrix per_node = exchange_bytes(request, counts, slots, CopiesPer::node);
    EXPECT_NEAR(per_node.at(3, 19), 4096 * reached(256, 64, k), 1e-6);  // rail 3 of node 2
    EXPECT_EQ(per_node.at(3, 18), 0);
    EXPECT_NEAR(per_node.sent_max(), 3 * 4096 * reached(256, 64, k), 1e-5);
    // NVLink carries each rank's copies once, from the GPU on the source's rail.
    const ByteMatrix forwarded = forwarded_bytes(per_rank, 8);
    EXPECT_NEAR(std::accumulate(forwarded.bytes.begin(), forwarded.bytes.end(), 0.0),
                std::accumulate(per_rank.bytes.begin(), per_rank.bytes.end(), 0.0), 1e-4);
    EXPECT_EQ(forwarded.at(3, 19), 0);  // never to another node
    EXPECT_NEAR(forwarded.at(16, 17), 4 * 4096 * reached(256, 8, k), 1e-4);  // of rail 0 of each of 4 nodes
}

// Unequal experts, against tokens drawn one by one: exponential race, the first k experts to arrive.
TEST(ExchangeBytes, UnequalExpertsReachAboutAsManyPlacesAsTokensDrawnOneByOne) {
    const std::uint32_t experts = 32, k = 4, gpus = 8, tokens = 20000;
    std::vector<std::uint32_t> counts(experts * gpus, 0);
    std::vector<double> with_copy(gpus, 0.0);
    const Stream stream(7, "test");
    for (std::uint32_t t = 0; t < tokens; ++t) {
        std::vector<std::pair<double, std::uint32_t>> arrivals(experts);
        for (std::uint32_t e = 0; e < experts; ++e) arrivals[e] = {stream.exponential(t, e) * (1 + 0.3 * e), e};
        std::partial_sort(arrivals.begin(), arrivals.begin() + k, arrivals.end());
        std::vector<double> hit(gpus, 0.0);
        for (std::uint32_t i = 0; i < k; ++i) {
            ++counts[arrivals[i].second];
            hit[arrivals[i].second / 4] = 1;
        }
        for (std::uint32_t d = 0; d < gpus; ++d) with_copy[d] += hit[d];
    }
    const ByteMatrix matrix = exchange_bytes({gpus, 8, k, tokens, 1.0}, counts,
                                             ExpertSlots::single(contiguous(experts, gpus)), CopiesPer::rank);
    for (std::uint32_t d = 0; d < gpus; ++d) EXPECT_NEAR(matrix.at(0, d) / with_copy[d], 1, 0.03) << d;
}

// An even router: the busiest rank is every rank, and the matrix has the volumes of models/collectives/expert_exchange.
TEST(ExchangeBytes, AnEvenRouterHasTheVolumesOfTheExchangeForms) {
    const std::uint32_t ranks = 32, experts = 256, k = 8;
    const std::vector<std::uint32_t> counts(ranks * experts, 4096 * k / experts);
    const auto slots = ExpertSlots::single(contiguous(experts, ranks));
    const ExchangeRequest request{ranks, 8, k, 4096, 100.0};
    const ExpertExchange exchange{ranks, 8, 4096, experts, k, 0, Bytes{100}};
    const ExchangeVolume direct = exchange_volume(exchange, ExchangeForm::direct);
    const BusiestRank assigned = busiest_rank(exchange_bytes(request, counts, slots, CopiesPer::assignment), 8);
    EXPECT_NEAR(assigned.network / direct.network, 1, 1e-9);
    EXPECT_NEAR(assigned.nvlink / direct.nvlink, 1, 1e-9);
    const ExchangeVolume two = exchange_volume(exchange, ExchangeForm::hierarchical);
    const ByteMatrix per_rank = exchange_bytes(request, counts, slots, CopiesPer::rank);
    EXPECT_NEAR(busiest_rank(exchange_bytes(request, counts, slots, CopiesPer::node), 8).network / two.network, 1,
                1e-9);
    EXPECT_NEAR(busiest_rank(forwarded_bytes(per_rank, 8), 8).nvlink / two.nvlink, 1, 1e-9);
}

// The article's skew: 3 of 128 experts take 47 %. With 4 experts a GPU, a GPU that has one of them gets 0.157 and more
// of all assignments, 5 times the mean of 1/32.
TEST(ExchangeBytes, SkewMeetsAtTheReceiver) {
    RoutingSpec spec;
    spec.kind = RoutingKind::skew;
    spec.groups = {{3, 0.47}, {25, 0.08}};
    const TokenDraw draw(inclusion_probabilities(expert_shares(spec, 128, 0, 0, 1), 2));
    const auto counts = draw.tokens_per_source(32, 4096, 0, 0, 1);
    const ByteMatrix matrix = exchange_bytes({32, 8, 2, 4096, 1.0}, counts, ExpertSlots::single(contiguous(128, 32)),
                                             CopiesPer::assignment);
    EXPECT_GT(matrix.received_max(), 5 * matrix.total() / 32);
    EXPECT_LT(matrix.sent_max(), 1.05 * matrix.total() / 31);
}

TEST(ExchangeBytes, TokensSpreadOverReplicas) {
    ExpertSlots slots;  // expert 0 on GPUs 0 and 1, expert 1 on GPU 1
    slots.first = {0, 2, 3};
    slots.gpu = {0, 1, 1};
    const std::vector<std::uint32_t> counts{60, 40, 60, 40};
    const ByteMatrix matrix = exchange_bytes({2, 2, 1, 100, 1.0}, counts, slots, CopiesPer::assignment);
    EXPECT_DOUBLE_EQ(matrix.at(0, 1), 70);
    EXPECT_DOUBLE_EQ(matrix.at(1, 0), 30);
    EXPECT_DOUBLE_EQ(matrix.total(), 100);
    slots.gpu = {0, 2, 1};
    EXPECT_THROW(exchange_bytes({2, 2, 1, 100, 1.0}, counts, slots, CopiesPer::assignment), InvariantBroken);
}

}  // namespace
}  // namespace rehearse

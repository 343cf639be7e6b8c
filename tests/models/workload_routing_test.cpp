// Shares of experts, inclusion probabilities and drawn tokens against closed forms.
#include "models/workload/routing/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/workload/routing/token_draw.hpp"

namespace rehearse {
namespace {

double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

double variation(const std::vector<double>& v) {  // standard deviation / mean
    const double mean = sum(v) / static_cast<double>(v.size());
    double square = 0;
    for (const double x : v) square += (x - mean) * (x - mean);
    return std::sqrt(square / static_cast<double>(v.size())) / mean;
}

RoutingSpec article_skew() {
    RoutingSpec spec;
    spec.kind = RoutingKind::skew;
    spec.groups = {{3, 0.47}, {25, 0.08}};
    return spec;
}

TEST(Routing, SharesOfEveryKindSumToOne) {
    for (const RoutingKind kind : {RoutingKind::uniform, RoutingKind::zipf, RoutingKind::dirichlet}) {
        RoutingSpec spec;
        spec.kind = kind;
        spec.drift = 0.1;
        EXPECT_NEAR(sum(expert_shares(spec, 96, 3, 7, 1)), 1, 1e-12) << name(kind);
    }
}

// 3 experts take 47 %, the next 25 take 8 %, the other 100 take 45 %: the largest is 0.47 / 3 = 20 means of 128.
TEST(Routing, ArticleSkewGivesTheGroupsTheirShares) {
    std::vector<double> shares = expert_shares(article_skew(), 128, 0, 0, 1);
    std::sort(shares.begin(), shares.end(), std::greater<>());
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.begin() + 3, 0.0), 0.47, 1e-12);
    EXPECT_NEAR(std::accumulate(shares.begin() + 103, shares.end(), 0.0), 0.08, 1e-12);  // 0.0032 each, below 0.0045
    EXPECT_NEAR(shares[0] * 128, 20.05, 0.01);
    EXPECT_NE(expert_shares(article_skew(), 128, 0, 0, 1), expert_shares(article_skew(), 128, 1, 0, 1));
}

TEST(Routing, ZipfSharesFallByTheExponent) {
    RoutingSpec spec;
    spec.kind = RoutingKind::zipf;
    spec.exponent = 1.5;
    std::vector<double> shares = expert_shares(spec, 16, 2, 0, 1);
    std::sort(shares.begin(), shares.end(), std::greater<>());
    EXPECT_NEAR(shares[0] / shares[3], std::pow(4.0, 1.5), 1e-9);
}

// CV^2 of a component of Dirichlet(a) over E: (E - 1) / (E a + 1). It must not shrink as the weights walk.
TEST(Routing, DirichletKeepsItsSpreadWhileItDrifts) {
    RoutingSpec spec;
    spec.kind = RoutingKind::dirichlet;
    spec.concentration = 4;
    spec.drift = 0.05;
    const std::uint32_t experts = 64;
    const double expected = std::sqrt((experts - 1.0) / (experts * spec.concentration + 1.0));
    for (const std::uint32_t step : {0U, 40U, 400U}) {
        double square = 0;
        for (std::uint32_t layer = 0; layer < 40; ++layer)
            square += std::pow(variation(expert_shares(spec, experts, layer, step, 5)), 2) / 40;
        EXPECT_NEAR(std::sqrt(square) / expected, 1, 0.06) << step;  // 2,560 draws: 0.02 a standard error, plus tails
    }
}

// Shares of steps t and t + h correlate by (1 - d)^h.
TEST(Routing, DirichletDriftsAtTheRateGiven) {
    RoutingSpec spec;
    spec.kind = RoutingKind::dirichlet;
    spec.concentration = 2;
    spec.drift = 0.1;
    const std::uint32_t experts = 64;
    const auto correlation = [&](std::uint32_t distance) {
        double both = 0, first = 0, second = 0;
        for (std::uint32_t layer = 0; layer < 60; ++layer) {
            const auto a = expert_shares(spec, experts, layer, 20, 3);
            const auto b = expert_shares(spec, experts, layer, 20 + distance, 3);
            for (std::uint32_t e = 0; e < experts; ++e) {
                const double x = a[e] - 1.0 / experts, y = b[e] - 1.0 / experts;
                both += x * y, first += x * x, second += y * y;
            }
        }
        return both / std::sqrt(first * second);
    };
    EXPECT_NEAR(correlation(1), 0.9, 0.04);
    EXPECT_NEAR(correlation(7), std::pow(0.9, 7), 0.06);
    spec.drift = 0;
    EXPECT_EQ(expert_shares(spec, 64, 1, 0, 3), expert_shares(spec, 64, 1, 1000, 3));
}

TEST(Routing, RecordedCountsWrapAroundInStepsAndLayers) {
    RoutingSpec spec;
    spec.kind = RoutingKind::recorded;
    spec.recorded = {2, 1, 2, {1, 3, 0, 0}};
    EXPECT_EQ(expert_shares(spec, 2, 2, 5, 1), (std::vector<double>{0.25, 0.75}));
    EXPECT_EQ(expert_shares(spec, 2, 1, 0, 1), (std::vector<double>{0.5, 0.5}));  // nothing counted: even
}

// Shares 0.7, 0.1, 0.1, 0.1 at top-2: the first is capped at 1, the others share the second choice: 1/3 each.
TEST(InclusionProbabilities, AnExpertIsChosenAtMostOnceByAToken) {
    const auto pi = inclusion_probabilities(std::vector<double>{0.7, 0.1, 0.1, 0.1}, 2);
    EXPECT_DOUBLE_EQ(pi[0], 1);
    EXPECT_NEAR(pi[1], 1.0 / 3, 1e-12);
    const auto few = inclusion_probabilities(std::vector<double>{1, 0, 0}, 2);  // one share, two choices
    EXPECT_EQ(few, (std::vector<double>{1, 0.5, 0.5}));
    const auto skewed = inclusion_probabilities(expert_shares(article_skew(), 128, 0, 0, 1), 2);
    EXPECT_NEAR(*std::max_element(skewed.begin(), skewed.end()), 2 * 0.47 / 3, 1e-12);  // nothing capped
    EXPECT_NEAR(sum(skewed), 2, 1e-9);
}

TEST(TokenDraw, PlacesEveryAssignmentAndNoneTwice) {
    RoutingSpec zipf;
    zipf.kind = RoutingKind::zipf;
    for (const std::int64_t tokens : {0, 1, 7, 100, 4096}) {
        for (const std::uint32_t k : {1U, 3U, 16U}) {
            const TokenDraw draw(inclusion_probabilities(expert_shares(zipf, 16, 0, 0, 1), k));
            for (std::uint64_t seed = 0; seed < 50; ++seed) {
                const auto counts = draw.tokens_per_expert(tokens, 0, 0, seed);
                EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), tokens * k);
                EXPECT_LE(*std::max_element(counts.begin(), counts.end()), tokens);
            }
        }
    }
}

// Uniform top-k: N[e] has mean N k / E and variance N (k/E) (1 - k/E), for small means and for large ones.
TEST(TokenDraw, HasTheMeanAndVarianceOfTopKWithoutReplacement) {
    struct Case {
        std::int64_t tokens;
        std::uint32_t experts, k;
    };
    for (const Case& c : {Case{40, 32, 8}, Case{200, 64, 2}, Case{4000, 16, 6}, Case{50, 256, 1}}) {
        const TokenDraw draw(inclusion_probabilities(std::vector<double>(c.experts, 1.0 / c.experts), c.k));
        const double pi = static_cast<double>(c.k) / c.experts, mean = static_cast<double>(c.tokens) * pi;
        const std::uint32_t draws = 4000;
        double square = 0, first = 0;
        for (std::uint32_t i = 0; i < draws; ++i) {
            const auto counts = draw.tokens_per_expert(c.tokens, 0, i, 1);
            for (const std::uint32_t n : counts) square += (n - mean) * (n - mean);
            first += counts[0];
        }
        EXPECT_NEAR(square / (draws * c.experts) / (mean * (1 - pi)), 1, 0.03) << c.experts << " " << c.k;
        EXPECT_NEAR(first / draws / mean, 1, 4 / std::sqrt(draws * mean)) << c.experts << " " << c.k;
    }
}

TEST(TokenDraw, UnequalSharesKeepTheirMeans) {
    const std::vector<double> pi{1, 0.8, 0.6, 0.3, 0.2, 0.1};
    const TokenDraw draw(pi);
    std::vector<double> mean(pi.size(), 0.0);
    for (std::uint32_t step = 0; step < 4000; ++step) {
        const auto counts = draw.tokens_per_expert(20, 0, step, 1);
        for (std::size_t e = 0; e < pi.size(); ++e) mean[e] += counts[e] / 4000.0;
    }
    for (std::size_t e = 0; e < pi.size(); ++e) EXPECT_NEAR(mean[e], 20 * pi[e], 0.15) << e;
}

TEST(TokenDraw, IsAFunctionOfItsIdsAndNotOfTheOrder) {
    const TokenDraw draw(inclusion_probabilities(expert_shares(article_skew(), 128, 0, 0, 1), 2));
    const auto all = draw.tokens_per_source(5, 1000, 3, 9, 42);
    std::vector<std::uint32_t> third(128);
    draw.draw(1000, 3, 9, 2, 42, third);
    EXPECT_TRUE(std::equal(third.begin(), third.end(), all.begin() + 2 * 128));
    EXPECT_NE(draw.tokens_per_source(5, 1000, 3, 10, 42), all);
    EXPECT_NE(draw.tokens_per_source(5, 1000, 3, 9, 43), all);
}

TEST(Routing, FaultsNameTheirKeys) {
    RoutingSpec spec = article_skew();
    spec.groups.push_back({200, 0.6});
    FaultList faults;
    check_routing(spec, 128, 200, "training.routing", faults);
    ASSERT_EQ(faults.size(), 3U);  // k > experts, too many experts, shares above 1
    EXPECT_EQ(faults.faults()[0].path, "training.routing.top_k");
    EXPECT_EQ(faults.faults()[1].path, "training.routing.groups");
    RoutingSpec recorded;
    recorded.kind = RoutingKind::recorded;
    check_routing(recorded, 128, 2, "training.routing", faults);
    EXPECT_EQ(faults.size(), 4U);
}

}  // namespace
}  // namespace rehearse

// Dropped tokens against published drop rates, the closed form and the arithmetic of a claim.
#include "models/workload/routing/capacity.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "models/workload/routing/routing.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

TokenDraw uniform(std::uint32_t experts, std::uint32_t k) {
    return TokenDraw(inclusion_probabilities(std::vector<double>(experts, 1.0 / experts), k));
}

// moe-routing-bench, results/capacity_cf_multi.jsonl at bb9bb0b: dropped per cent of 32,768 tokens, uniform routing, at
// capacity factors 1.0, 1.05, 1.1 and 1.25.
TEST(Capacity, UniformRoutingDropsWhatWasMeasured) {
    struct Row {
        std::uint32_t experts, k;
        double dropped[4];
    };
    const double factors[] = {1.0, 1.05, 1.1, 1.25};
    for (const Row& row : {Row{64, 2, {1.14, 0.08, 0, 0}}, Row{256, 2, {2.47, 0.72, 0.16, 0}},
                           Row{256, 1, {3.36, 1.38, 0.57, 0.02}}}) {
        const TokenDraw draw = uniform(row.experts, row.k);
        for (int i = 0; i < 4; ++i) {
            const std::int64_t capacity = expert_capacity(factors[i], 32768, row.k, row.experts);
            const double dropped = 100 * draw_drops(draw, 32768, capacity, 1, 40, 0, 1).dropped;
            EXPECT_NEAR(dropped, row.dropped[i], 0.2) << row.experts << " top-" << row.k << " at " << factors[i];
            const double closed =
                100 * normal_drops(uniform_variation(32768, row.experts, row.k), factors[i], row.experts).dropped;
            EXPECT_NEAR(dropped, closed, 0.2) << row.experts << " top-" << row.k << " at " << factors[i];
        }
    }
}

// 2,048 experts, top-2, 1,000,000 tokens. Capacity 976 leaves 2,000,000 - 976 x 2,048 = 1,152 assignments without a
// place in every step; at 1,268, z = 0.2983 x 31.3 = 9.3, nothing is ever over.
TEST(Capacity, OverflowIsSaidInThreeWays) {
    const TokenDraw draw = uniform(2048, 2);
    const DropReport tight = draw_drops(draw, 1'000'000, 976, 1, 10, 0, 1);
    EXPECT_EQ(tight.steps, 1);
    EXPECT_GE(tight.dropped, 1152.0 / 2'000'000);
    EXPECT_NEAR(tight.dropped, 0.0130, 0.0005);  // 1 / sqrt(976.6) / sqrt(2 pi), and half an assignment an expert
    EXPECT_NEAR(tight.over, 0.5, 0.02);
    EXPECT_EQ(draw_drops(draw, 1'000'000, 1268, 1, 10, 0, 1).steps, 0);
    // "0.02 % overflow at 1.3" as dropped fraction needs c = 0.118, and then 4.7 % drops at 1.0; read as steps with
    // any overflow it needs c = 0.0575. Three readings of one number, of very different routers.
    EXPECT_NEAR(normal_drops(0.118, 1.3, 2048).dropped, 0.0002, 0.00002);
    EXPECT_NEAR(normal_drops(0.118, 1.0, 2048).dropped, 0.047, 0.0002);
    EXPECT_NEAR(normal_drops(0.0575, 1.3, 2048).steps, 0.0002, 0.00005);
    EXPECT_NEAR(normal_drops(0.376, 1.0, 2048).dropped, 0.15, 0.0005);
}

TEST(Capacity, ClosedFormAgreesWithTheDrawInAllThreeWays) {
    const TokenDraw draw = uniform(64, 2);
    const DropReport drawn = draw_drops(draw, 32768, expert_capacity(1.05, 32768, 2, 64), 1, 2000, 0, 1);
    const DropReport closed = normal_drops(uniform_variation(32768, 64, 2), 1.05, 64);
    EXPECT_NEAR(drawn.over, closed.over, 0.006);    // the capacity is rounded up: 0.8 of an assignment, z + 0.02
    EXPECT_NEAR(drawn.steps, closed.steps, 0.035);  // 0.011 a standard error, and the loads are not independent
}

// Experts of a GPU as one group: loads average out, so less is dropped at the same factor.
TEST(Capacity, CountedPerGpuLessIsDropped) {
    RoutingSpec spec;
    spec.kind = RoutingKind::dirichlet;
    spec.concentration = 5;
    const TokenDraw draw(inclusion_probabilities(expert_shares(spec, 32, 0, 0, 1), 3));
    const auto dropped = [&](std::uint32_t per_group) {
        const std::int64_t capacity = expert_capacity(1.1, 8192, 3, 32 / per_group);
        return draw_drops(draw, 8192, capacity, per_group, 20, 0, 1).dropped;
    };
    EXPECT_LT(dropped(4), 0.8 * dropped(1));
    EXPECT_EQ(draw_drops(draw, 8192, expert_capacity(0, 8192, 3, 32), 1, 5, 0, 1).dropped, 0);  // dropless
}

TEST(Capacity, IsRoundedUp) {
    EXPECT_EQ(expert_capacity(1.0, 1'000'000, 2, 2048), 977);
    EXPECT_EQ(expert_capacity(1.25, 1024, 2, 8), 320);
    EXPECT_THROW(expert_capacity(-1, 1024, 2, 8), InvariantBroken);
}

TEST(Capacity, CountsOfOneStep) {
    const std::vector<std::uint32_t> loads{10, 4, 2, 4};  // capacity 5: 5 of 20 dropped, 1 of 4 over
    const DropReport report = count_drops(loads, 5);
    EXPECT_DOUBLE_EQ(report.dropped, 0.25);
    EXPECT_DOUBLE_EQ(report.over, 0.25);
    EXPECT_EQ(report.steps, 1);
}

}  // namespace
}  // namespace rehearse

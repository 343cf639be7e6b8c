// The split of a speed-up, on hand-made step times and on drawn ones.
#include "scenarios/ablate/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

// Step times between 1 and 2 s, one for each subset.
std::vector<double> drawn_times(std::size_t groups, std::uint64_t seed) {
    std::vector<double> times;
    for (std::size_t set = 0; set < std::size_t{1} << groups; ++set)
        times.push_back(1 + static_cast<double>(splitmix64(seed) >> 11) * 0x1p-53);
    return times;
}

// The definitions, written out: the mean of the logarithms, least and most over all n! orders.
std::vector<GroupShare> over_all_orders(const std::vector<double>& times, std::size_t groups) {
    std::vector<GroupShare> shares(groups, {1, 0, INFINITY, 0});
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    double orders = 0;
    do {
        GroupSet on = 0;
        for (const std::size_t group : order) {
            const double gain = times[on] / times[on | GroupSet{1} << group];
            if (orders == 0) shares[group].ordered = gain;  // the first permutation is the order as given
            shares[group].shapley += std::log(gain);
            shares[group].least = std::min(shares[group].least, gain);
            shares[group].most = std::max(shares[group].most, gain);
            on |= GroupSet{1} << group;
        }
        ++orders;
    } while (std::ranges::next_permutation(order).found);
    for (GroupShare& share : shares) share.shapley = std::exp(share.shapley / orders);
    return shares;
}

// T = 12, 8, 6, 3 s for {}, {a}, {b}, {a, b}: a gains 12/8 = 1.5 first and 6/3 = 2 last, b 8/3 and 12/6.
TEST(AblationSplit, TwoGroupsByHand) {
    const SpeedUpSplit split = split_speed_up(std::vector<double>{12, 8, 6, 3}, 2);
    EXPECT_DOUBLE_EQ(split.speed_up, 4);
    EXPECT_DOUBLE_EQ(split.groups[0].ordered, 1.5);
    EXPECT_DOUBLE_EQ(split.groups[1].ordered, 8.0 / 3);
    EXPECT_DOUBLE_EQ(split.groups[0].shapley, std::sqrt(1.5 * 2));
    EXPECT_DOUBLE_EQ(split.groups[1].shapley, std::sqrt(8.0 / 3 * 2));
    EXPECT_DOUBLE_EQ(split.groups[0].least, 1.5);
    EXPECT_DOUBLE_EQ(split.groups[0].most, 2);
}

TEST(AblationSplit, IsTheMeanOverAllOrders) {
    for (std::size_t groups = 1; groups <= 6; ++groups) {
        const std::vector<double> times = drawn_times(groups, groups);
        const std::vector<GroupShare> expected = over_all_orders(times, groups);
        const SpeedUpSplit split = split_speed_up(times, groups);
        ASSERT_EQ(split.groups.size(), groups);
        for (std::size_t i = 0; i < groups; ++i) {
            EXPECT_DOUBLE_EQ(split.groups[i].ordered, expected[i].ordered);
            EXPECT_NEAR(split.groups[i].shapley, expected[i].shapley, 1e-12);
            EXPECT_DOUBLE_EQ(split.groups[i].least, expected[i].least);
            EXPECT_DOUBLE_EQ(split.groups[i].most, expected[i].most);
        }
    }
}

// Efficiency: both splits multiply to the speed-up, up to ten groups.
TEST(AblationSplit, FactorsMultiplyToTheSpeedUp) {
    for (std::size_t groups = 1; groups <= ablation_groups_most; ++groups) {
        const SpeedUpSplit split = split_speed_up(drawn_times(groups, 40 + groups), groups);
        double ordered = 1, shapley = 1;
        for (const GroupShare& share : split.groups) {
            ordered *= share.ordered;
            shapley *= share.shapley;
            EXPECT_LE(share.least, share.shapley);
            EXPECT_GE(share.most, share.shapley);
        }
        EXPECT_NEAR(ordered, split.speed_up, 1e-12 * split.speed_up);
        EXPECT_NEAR(shapley, split.speed_up, 1e-12 * split.speed_up);
    }
}

// Symmetry: of two groups that may change places in T, both get the same. Null: one that never changes T gets 1.
TEST(AblationSplit, EqualGroupsShareEquallyAndAnIdleOneGetsNothing) {
    std::vector<double> times = drawn_times(4, 7);
    for (GroupSet set = 0; set < times.size(); ++set) {
        const bool first_only = contains(set, 0) && !contains(set, 1);
        if (first_only) times[set] = times[(set & ~GroupSet{1}) | GroupSet{2}];
        if (contains(set, 3)) times[set] = times[set & ~GroupSet{8}];
    }
    const SpeedUpSplit split = split_speed_up(times, 4);
    EXPECT_NEAR(split.groups[0].shapley, split.groups[1].shapley, 1e-12);
    EXPECT_DOUBLE_EQ(split.groups[3].shapley, 1);
    EXPECT_DOUBLE_EQ(split.groups[3].least, 1);
    EXPECT_DOUBLE_EQ(split.groups[3].most, 1);
}

// Additivity in the logarithm: the split of T1 x T2 is the product of their splits.
TEST(AblationSplit, SplitsOfProductsAreProductsOfSplits) {
    const std::vector<double> a = drawn_times(3, 1), b = drawn_times(3, 2);
    std::vector<double> both;
    for (std::size_t i = 0; i < a.size(); ++i) both.push_back(a[i] * b[i]);
    const SpeedUpSplit of_a = split_speed_up(a, 3), of_b = split_speed_up(b, 3), of_both = split_speed_up(both, 3);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(of_both.groups[i].shapley, of_a.groups[i].shapley * of_b.groups[i].shapley, 1e-12);
}

// The order renames groups: Shapley, least and most stay with the group.
TEST(AblationSplit, OnlyTheOrderedFactorsDependOnTheOrder) {
    const std::vector<double> times = drawn_times(2, 3);
    const SpeedUpSplit ab = split_speed_up(times, 2);
    const SpeedUpSplit ba = split_speed_up(std::vector<double>{times[0], times[2], times[1], times[3]}, 2);
    EXPECT_DOUBLE_EQ(ab.groups[0].shapley, ba.groups[1].shapley);
    EXPECT_DOUBLE_EQ(ab.groups[0].least, ba.groups[1].least);
    EXPECT_NE(ab.groups[0].ordered, ba.groups[1].ordered);
}

TEST(AblationSplit, NeedsATimePerSubset) {
    EXPECT_THROW(split_speed_up(std::vector<double>{1, 2, 3}, 2), InvariantBroken);
    EXPECT_THROW(split_speed_up(std::vector<double>{1, 0}, 1), InvariantBroken);
    EXPECT_DOUBLE_EQ(split_speed_up(std::vector<double>{5}, 0).speed_up, 1);
}

}  // namespace
}  // namespace rehearse

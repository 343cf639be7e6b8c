// Order statistics against values that can be counted.
#include <gtest/gtest.h>

#include "sim/base/checks.hpp"
#include "sim/base/quantile.hpp"

namespace rehearse {
namespace {

TEST(Quantile, LiesBetweenTheTwoNearest) {
    EXPECT_EQ(quantile({4, 1, 3, 2, 5}, 0), 1);
    EXPECT_EQ(quantile({4, 1, 3, 2, 5}, 1), 5);
    EXPECT_EQ(median({4, 1, 3, 2, 5}), 3);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_DOUBLE_EQ(quantile({10, 20}, 0.25), 12.5);
}

TEST(Quantile, SpreadIsOfTheMedian) {
    EXPECT_DOUBLE_EQ(relative_spread({1, 2, 3, 4, 5}), 2.0 / 3);
    EXPECT_EQ(relative_spread({7}), 0);
}

TEST(Quantile, OfNothingIsNothing) { EXPECT_THROW(median({}), InvariantBroken); }

}  // namespace
}  // namespace rehearse

// Which steps count: by the probes at their ends, on the slowest rank; and when the machine is called calm.
#include <gtest/gtest.h>

#include "kernels/communicator/thread_ranks.hpp"
#include "runtime/live/calm_steps.hpp"

namespace rehearse {
namespace {

// Probes before steps 0 .. 5: a step is calm where those before it and behind it are, on both ranks.
TEST(CalmSteps, BothEndsOnBothRanks) {
    const std::vector<double> first{1, 1, 1, 9, 1, 1}, second{1, 9, 1, 1, 1, 1};
    run_thread_ranks(2, [&](Communicator& world) {
        std::vector<Pace> mine;
        for (const double compute : world.rank() == 0 ? first : second) mine.push_back({compute, 2 * compute});
        EXPECT_EQ(calmest_steps(world, mine, 1), std::vector<std::size_t>{4});
        EXPECT_EQ(calmest_steps(world, mine, 9), (std::vector<std::size_t>{0, 1, 2, 3, 4}));  // the last has no end
        const Pace pace = pace_of(world, mine, {1, 2});
        EXPECT_EQ(pace.compute, (1 + 5) / 2.0);  // medians 1 and 5
        EXPECT_EQ(pace.memory, 6);
    });
}

TEST(CalmSteps, CalmIsCloseTogetherAndAsFastAsKnown) {
    LiveSpec spec;
    const std::vector<double> seconds{1.00, 5.0, 1.02, 1.01, 9.0};
    EXPECT_TRUE(is_calm(spec, {1, 1}, seconds, {0, 2, 3}));
    EXPECT_FALSE(is_calm(spec, {1, 1}, seconds, {0, 1, 2, 3, 4}));
    spec.calm_pace = 0.9;
    EXPECT_TRUE(is_calm(spec, {1, 1}, seconds, {0, 2, 3}));
    spec.calm_pace = 0.7;  // the probe was faster once
    EXPECT_FALSE(is_calm(spec, {1, 1}, seconds, {0, 2, 3}));
}

}  // namespace
}  // namespace rehearse

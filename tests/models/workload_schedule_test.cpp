// Schedules: each (chunk, micro-batch) passes once forward and once backward, backward after forward, warm-up as
// published.
#include "models/workload/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

struct Shape {
    std::uint32_t stages, chunks, micro_batches;
};

class Schedule : public testing::TestWithParam<Shape> {};

TEST_P(Schedule, EveryPassOnceAndInOrder) {
    const auto [p, v, m] = GetParam();
    for (std::uint32_t stage = 0; stage < p; ++stage) {
        const StageSchedule schedule = build_schedule(stage, p, v, m);
        ASSERT_EQ(schedule.passes.size(), 2u * m * v);
        std::set<std::pair<std::uint32_t, std::uint32_t>> forward, backward;
        for (const Pass& pass : schedule.passes) {
            const std::pair key{pass.chunk, pass.micro_batch};
            if (pass.phase == Phase::forward) {
                EXPECT_TRUE(forward.insert(key).second);
            } else {
                EXPECT_TRUE(forward.count(key)) << "backward before its forward";
                EXPECT_TRUE(backward.insert(key).second);
            }
        }
        EXPECT_EQ(forward.size(), m * v);
        EXPECT_EQ(backward.size(), m * v);
    }
}

// Run the schedule with unit passes and free communication: it ends, after (2 m v + 2 (p - 1)) units.
TEST_P(Schedule, EndsWithTheClosedFormBubble) {
    const auto [p, v, m] = GetParam();
    std::map<std::tuple<int, std::uint32_t, std::uint32_t>, std::int64_t> done;  // (phase, global block, micro-batch)
    std::vector<StageSchedule> stages;
    for (std::uint32_t stage = 0; stage < p; ++stage) stages.push_back(build_schedule(stage, p, v, m));
    std::vector<std::size_t> next(p);
    std::vector<std::int64_t> now(p);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::uint32_t stage = 0; stage < p; ++stage) {
            while (next[stage] < stages[stage].passes.size()) {
                const Pass& pass = stages[stage].passes[next[stage]];
                const std::uint32_t block = pass.chunk * p + stage;
                const bool is_forward = pass.phase == Phase::forward;
                std::int64_t ready = 0;
                const bool is_end = is_forward ? block == 0 : block + 1 == p * v;
                if (!is_end) {
                    const auto before =
                        done.find({is_forward ? 0 : 1, is_forward ? block - 1 : block + 1, pass.micro_batch});
                    if (before == done.end()) break;
                    ready = before->second;
                }
                now[stage] = std::max(now[stage], ready) + 1;
                done[{is_forward ? 0 : 1, block, pass.micro_batch}] = now[stage];
                ++next[stage];
                moved = true;
            }
        }
    }
    for (std::uint32_t stage = 0; stage < p; ++stage) ASSERT_EQ(next[stage], stages[stage].passes.size()) << "deadlock";
    EXPECT_EQ(*std::max_element(now.begin(), now.end()), 2 * m * v + 2 * (p - 1));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Schedule,
                         testing::Values(Shape{1, 1, 4}, Shape{4, 1, 8}, Shape{4, 1, 2}, Shape{8, 6, 32},
                                         Shape{8, 6, 8}, Shape{4, 2, 8}, Shape{2, 3, 4}, Shape{35, 3, 280}));

TEST(ScheduleWarmup, MatchesNarayananEtAl) {
    EXPECT_EQ(build_schedule(0, 8, 6, 32).warmup, 2u * 7 + 5 * 8);
    EXPECT_EQ(build_schedule(7, 8, 6, 32).warmup, 5u * 8);
    EXPECT_EQ(build_schedule(0, 8, 6, 8).warmup, 48u);  // m = p: everything warms up
    EXPECT_THROW(build_schedule(0, 8, 6, 12), InvariantBroken);
}

}  // namespace
}  // namespace rehearse

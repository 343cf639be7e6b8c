// The planners with heaps against those with scans, on drawn shapes; loads are small whole numbers half of the time, so
// that many are equal or zero.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/balancer/first_heap.hpp"
#include "runtime/balancer/spare_plan.hpp"
#include "sim/base/rng.hpp"
#include "tests/runtime/balancer_reference.hpp"

namespace rehearse {
namespace {

struct Draw {
    std::uint64_t state;
    std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(splitmix64(state) % n); }
    std::vector<double> loads(std::uint32_t experts) {
        const bool is_coarse = below(2) == 0;
        std::vector<double> loads;
        for (std::uint32_t i = 0; i < experts; ++i) loads.push_back(is_coarse ? below(4) : std::exp(below(900) * 0.01));
        return loads;
    }
};

std::vector<std::uint32_t> slots_of(const ExpertMap& map) {
    return {map.expert_of_slot().begin(), map.expert_of_slot().end()};
}

TEST(BalancerReference, TheWholeMapIsTheSame) {
    Draw draw{3};
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t nodes = 1 + draw.below(3), gpus = nodes * (1 + draw.below(6));
        const std::uint32_t groups = nodes * (1 + draw.below(3)), experts = groups * (1 + draw.below(8));
        const std::uint32_t slots = gpus * ((experts + gpus - 1) / gpus + draw.below(3));
        const EplbShape shape{slots, groups, nodes, gpus};
        const std::vector<double> loads = draw.loads(experts);
        EXPECT_EQ(slots_of(balance_experts(loads, shape)), reference::balanced_slots(loads, shape)) << round;
    }
}

TEST(BalancerReference, TheSpareSlotsAreTheSame) {
    Draw draw{5};
    int plans = 0;
    for (int round = 0; round < 500; ++round) {
        const std::uint32_t gpus = 1 + draw.below(12), experts = 1 + draw.below(30), top = draw.below(8);
        const std::uint32_t per_gpu = (experts + gpus - 1) / gpus + 1 + draw.below(3);
        const ExpertMap map = balance_experts(draw.loads(experts), {per_gpu * gpus, 1, 1, gpus}, 7);
        std::vector<std::uint32_t> spare;
        for (std::uint32_t slot = 0; slot < map.slot_count(); ++slot) {
            if (draw.below(3) == 0) spare.push_back(slot);
        }
        const std::vector<double> loads = draw.loads(experts);
        const auto planned = plan_spare_slots(map, loads, spare, top);
        const std::vector<std::uint32_t> expected = reference::spare_slots(map, loads, spare, top);
        ASSERT_EQ(planned.has_value(), !expected.empty()) << round;
        if (!planned) continue;
        ++plans;
        EXPECT_EQ(slots_of(*planned), expected) << round;
        EXPECT_EQ(planned->version(), 8U);
    }
    EXPECT_GT(plans, 300);
}

TEST(LoadKey, OrdersAsLoadsDoEqualOnesByNumber) {
    const double loads[] = {-INFINITY, -2, -1e-300, 0, 1e-300, 0.5, 1, 1e300, INFINITY};
    for (const double a : loads) {
        for (const double b : loads) {
            EXPECT_EQ(light_first(a, 1) < light_first(b, 0), a < b) << a << " " << b;
            EXPECT_EQ(heavy_first(a, 1) < heavy_first(b, 0), a > b) << a << " " << b;
            EXPECT_EQ(light_first(a, 0) < light_first(b, 1), a <= b) << a << " " << b;
        }
        EXPECT_EQ(number_of(light_first(a, 4'000'000'000)), 4'000'000'000U);
        EXPECT_EQ(number_of(heavy_first(a, 7)), 7U);
    }
    EXPECT_EQ(light_first(-0.0, 3), light_first(0.0, 3));
}

TEST(LoadKey, SortsKeysWhoseNumbersAscend) {
    Draw draw{13};
    for (std::uint32_t count = 0; count < 200; ++count) {
        std::vector<LoadKey> keys;
        for (const double load : draw.loads(count))
            keys.push_back(heavy_first(load, static_cast<std::uint32_t>(keys.size())));
        std::vector<LoadKey> expected = keys;
        std::ranges::sort(expected);
        sort_by_load(keys);
        EXPECT_TRUE(keys == expected) << count;
    }
}

// Any mix of replacing, dropping and adding gives the keys in their order.
TEST(FirstHeap, FirstIsTheSmallest) {
    Draw draw{9};
    for (int round = 0; round < 100; ++round) {
        std::vector<LoadKey> keys;
        for (std::uint32_t i = draw.below(20); i > 0; --i) keys.push_back(light_first(draw.below(10), i));
        FirstHeap heap(keys);
        for (int step = 0; step < 60; ++step) {
            ASSERT_EQ(heap.empty(), keys.empty());
            const LoadKey next = light_first(draw.below(10), draw.below(100));
            const std::uint32_t what = keys.empty() ? 0 : draw.below(3);
            if (what == 0) {
                heap.add(next);
                keys.push_back(next);
                continue;
            }
            const auto least = std::ranges::min_element(keys);
            ASSERT_TRUE(heap.first() == *least);
            if (what == 1) {
                heap.replace_first(next);
                *least = next;
            } else {
                heap.drop_first();
                keys.erase(least);
            }
        }
    }
}

}  // namespace
}  // namespace rehearse

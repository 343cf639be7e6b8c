// Every queue keeps the total order (time, id): for any pushes, pop returns min over the pending pairs.
#include "sim/engine/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "sim/base/rng.hpp"
#include "sim/engine/binary_heap.hpp"
#include "sim/engine/quad_heap.hpp"
#include "sim/engine/radix_heap.hpp"

namespace rehearse {
namespace {

template <class Queue>
class AnyQueue : public testing::Test {};
using Queues = testing::Types<BinaryHeap, QuadHeap, RadixHeap, LadderQueue>;
TYPED_TEST_SUITE(AnyQueue, Queues);

TYPED_TEST(AnyQueue, OrdersByTimeAndThenById) {
    TypeParam queue;
    queue.push(SimTime{20}, 1);
    queue.push(SimTime{10}, 9);
    queue.push(SimTime{10}, 2);
    queue.push(SimTime{10}, UINT64_MAX);
    queue.push(SimTime{INT64_MAX}, 0);
    queue.push(SimTime{0}, 7);
    EXPECT_EQ(queue.size(), 6u);
    EXPECT_EQ(queue.pop(), (Event{SimTime{0}, 7}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{10}, 2}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{10}, 9}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{10}, UINT64_MAX}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{20}, 1}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{INT64_MAX}, 0}));
    EXPECT_TRUE(queue.empty());
    EXPECT_THROW(queue.pop(), InvariantBroken);
    EXPECT_THROW(queue.peek(), InvariantBroken);
    EXPECT_THROW(queue.push(SimTime{-1}, 0), InvariantBroken);
}

// After popping (t, 5), an event (t, 3) that is pushed then comes next: order is over what is pending.
TYPED_TEST(AnyQueue, AnEventAtThePresentTimeComesNext) {
    TypeParam queue;
    queue.push(SimTime{100}, 5);
    queue.push(SimTime{100}, 6);
    EXPECT_EQ(queue.pop().id, 5u);
    queue.push(SimTime{100}, 3);
    queue.push(SimTime{100}, 9);
    EXPECT_EQ(queue.pop().id, 3u);
    EXPECT_EQ(queue.pop().id, 6u);
    EXPECT_EQ(queue.pop().id, 9u);
}

TYPED_TEST(AnyQueue, APeekDoesNotAdvance) {
    TypeParam queue;
    queue.push(SimTime{1}, 0);
    queue.pop();
    queue.push(SimTime{1'000'000}, 1);
    EXPECT_EQ(queue.peek(), (Event{SimTime{1'000'000}, 1}));
    queue.push(SimTime{2}, 2);  // earlier than what was peeked, later than what was popped
    EXPECT_EQ(queue.peek(), (Event{SimTime{2}, 2}));
    queue.push(SimTime{1}, 3);
    EXPECT_EQ(queue.pop(), (Event{SimTime{1}, 3}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{2}, 2}));
    EXPECT_EQ(queue.pop(), (Event{SimTime{1'000'000}, 1}));
}

TYPED_TEST(AnyQueue, ClearForgetsEverything) {
    TypeParam queue;
    for (std::uint64_t i = 0; i < 1'000; ++i) queue.push(SimTime{static_cast<std::int64_t>(i * i)}, i);
    for (int i = 0; i < 500; ++i) queue.pop();
    queue.clear();
    EXPECT_TRUE(queue.empty());
    queue.push(SimTime{0}, 4);
    EXPECT_EQ(queue.pop(), (Event{SimTime{0}, 4}));
}

TYPED_TEST(AnyQueue, ManyEventsAtOneTimeComeById) {
    TypeParam queue;
    constexpr std::uint64_t n = 20'000;
    for (std::uint64_t i = 0; i < n; ++i) queue.push(SimTime{77'777}, (i * 7'919) % n);
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(queue.pop(), (Event{SimTime{77'777}, i}));
}

// One random workload: pushes at the present time plus an increment, pops and peeks, against a std::multiset.
struct Workload {
    const char* name;
    std::int64_t (*increment)(std::uint32_t random);
    std::uint32_t pending;  // the share of pushes falls when more are pending
};

const Workload workloads[] = {
    {"ties", [](std::uint32_t r) { return std::int64_t{r % 3}; }, 500},
    {"one step", [](std::uint32_t) { return std::int64_t{81'920}; }, 2'000},
    {"short", [](std::uint32_t r) { return std::int64_t{r % 1'000}; }, 3'000},
    {"all magnitudes", [](std::uint32_t r) { return (std::int64_t{1} << (r % 44)) + (r >> 20); }, 3'000},
    {"sparse", [](std::uint32_t r) { return std::int64_t{r} * 1'000; }, 5},
    {"bursts", [](std::uint32_t r) { return r % 50 == 0 ? std::int64_t{1'000'000'000} : std::int64_t{r % 8}; }, 4'000},
    {"byte edges", [](std::uint32_t r) { return (std::int64_t{1} << (8 * (r % 5))) - (r >> 31); }, 1'000},
};

template <class Queue>
void run(const Workload& workload, std::uint64_t seed) {
    const Stream stream(seed, "event_queue_test");
    Queue queue;
    std::multiset<std::pair<std::int64_t, std::uint64_t>> pending;
    std::int64_t now = 0;
    for (std::uint64_t step = 0; step < 60'000; ++step) {
        const auto r = stream.bits(0, step);
        const bool phase_out = step > 40'000;
        const std::size_t goal = phase_out ? 0 : workload.pending;
        if (r[0] % 16 < (pending.size() < goal ? 11u : 6u) && !phase_out) {
            const std::int64_t time = now + workload.increment(r[1]);
            const std::uint64_t id = r[2] % 64;
            queue.push(SimTime{time}, id);
            pending.emplace(time, id);
        } else if (!pending.empty()) {
            const Event expected{SimTime{pending.begin()->first}, pending.begin()->second};
            if (r[3] % 4 == 0) {
                ASSERT_EQ(queue.peek(), expected) << workload.name << " step " << step;
            }
            if (r[3] % 64 == 1) continue;  // a peek without a pop
            ASSERT_EQ(queue.pop(), expected) << workload.name << " step " << step;
            now = expected.time.value;
            pending.erase(pending.begin());
        }
        ASSERT_EQ(queue.size(), pending.size());
    }
    while (!pending.empty()) {
        const Event expected{SimTime{pending.begin()->first}, pending.begin()->second};
        ASSERT_EQ(queue.pop(), expected);
        pending.erase(pending.begin());
    }
    ASSERT_TRUE(queue.empty());
}

TYPED_TEST(AnyQueue, EqualsASortedSetOnRandomMonotoneWorkloads) {
    for (const Workload& workload : workloads)
        for (std::uint64_t seed = 0; seed < 3; ++seed) run<TypeParam>(workload, seed);
}

TEST(RadixHeap, RefusesThePast) {
    RadixHeap queue;
    queue.push(SimTime{10}, 0);
    queue.pop();
    EXPECT_THROW(queue.push(SimTime{9}, 1), InvariantBroken);
}

// The ladder has no such limit: with pushes from anywhere in time it still returns the least pending event.
// What ahead() shows is what pop() gives, as long as nothing is pushed.
TEST(LadderQueue, ShowsWhatComesNext) {
    LadderQueue queue;
    for (std::uint64_t id = 0; id < 50; ++id) queue.push(SimTime{static_cast<std::int64_t>(id * 37 % 50)}, id);
    EXPECT_TRUE(queue.ahead().empty());  // nothing is sorted yet
    for (std::int64_t time = 0; time < 50; ++time) {
        EXPECT_EQ(queue.peek().time, SimTime{time});
        ASSERT_FALSE(queue.ahead().empty());
        const Event shown = queue.ahead().front();
        EXPECT_EQ(queue.pop(), shown);
    }
}

TEST(LadderQueue, TakesPushesFromAnyTime) {
    const Stream stream(5, "event_queue_test");
    LadderQueue queue;
    BinaryHeap reference;
    for (std::uint64_t step = 0; step < 200'000; ++step) {
        const auto r = stream.bits(1, step);
        if (r[0] % 100 < (step % 20'000 < 10'000 ? 60u : 40u) || reference.empty()) {
            const SimTime time{static_cast<std::int64_t>(r[1]) >> (r[2] % 32)};
            queue.push(time, r[3]);
            reference.push(time, r[3]);
        } else {
            ASSERT_EQ(queue.pop(), reference.pop()) << step;
        }
    }
    while (!reference.empty()) ASSERT_EQ(queue.pop(), reference.pop());
}

// Few events stretch the span of the front over years; then many events arrive inside of it.
TEST(LadderQueue, LowersAFrontThatGetsCrowded) {
    const Stream stream(6, "event_queue_test");
    LadderQueue queue;
    BinaryHeap reference;
    const auto push = [&](std::int64_t time, std::uint64_t id) {
        queue.push(SimTime{time}, id);
        reference.push(SimTime{time}, id);
    };
    push(std::int64_t{1} << 60, 1);
    push((std::int64_t{1} << 60) + (std::int64_t{1} << 50), 2);
    ASSERT_EQ(queue.peek(), reference.peek());
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        const auto r = stream.bits(0, i);
        push((std::int64_t{1} << 60) + (std::int64_t{r[0]} << (r[1] % 20)), i);
        if (i % 3 == 0) {
            ASSERT_EQ(queue.pop(), reference.pop());
        }
    }
    while (!reference.empty()) ASSERT_EQ(queue.pop(), reference.pop());
    EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace rehearse

#include "sim/engine/handle.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sim/base/fingerprint.hpp"
#include "sim/base/rng.hpp"
#include "sim/engine/event_queue.hpp"

namespace rehearse {
namespace {

TEST(EventSlab, ARemovedRecordIsNotFoundAgain) {
    EventSlab<int> slab;
    const Handle a = slab.add(10);
    const Handle b = slab.add(20);
    EXPECT_EQ(*slab.find(a), 10);
    EXPECT_TRUE(slab.remove(a));
    EXPECT_EQ(slab.find(a), nullptr);
    EXPECT_FALSE(slab.remove(a));
    const Handle c = slab.add(30);  // takes the slot of a
    EXPECT_EQ(c.index, a.index);
    EXPECT_EQ(slab.find(a), nullptr);
    EXPECT_EQ(*slab.find(c), 30);
    EXPECT_EQ(*slab.find(b), 20);
    EXPECT_EQ(slab.size(), 2u);
}

TEST(EventSlab, NullAndForeignHandlesFindNothing) {
    EventSlab<int> slab;
    EXPECT_EQ(slab.find(Handle{}), nullptr);
    EXPECT_EQ(slab.find(Handle{5, 1}), nullptr);
    slab.add(1);
    EXPECT_EQ(slab.find(Handle{}), nullptr);
    EXPECT_FALSE(Handle{}.valid());
    EXPECT_EQ(slab.find(Handle{0, 2}), nullptr);  // even: a free slot
}

TEST(EventSlab, HandlesTravelAsIds) {
    const Handle handle{7, 123};
    EXPECT_EQ(Handle::from_id(handle.id()), handle);
    EXPECT_FALSE(Handle::from_id(0).valid());
}

TEST(EventSlab, TakesNoMemoryAfterWarmUp) {
    EventSlab<std::uint64_t> slab;
    std::map<std::uint64_t, Handle> live;
    const Stream stream(1, "handle_test");
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        if (live.size() < 100) {
            live[i] = slab.add(i);
        } else {
            const auto victim = std::next(live.begin(), stream.bits(0, i)[0] % 100);
            ASSERT_EQ(*slab.find(victim->second), victim->first);
            ASSERT_TRUE(slab.remove(victim->second));
            live.erase(victim);
        }
    }
    EXPECT_EQ(slab.capacity(), 100u);
}

TEST(EventSlab, CancelsTimersThatAQueueStillHolds) {
    EventSlab<int> timers;
    EventQueue queue;
    std::vector<Handle> handles;
    for (int i = 0; i < 10; ++i) {
        handles.push_back(timers.add(i));
        queue.push(SimTime{100 - i}, handles.back().id());
    }
    for (int i = 0; i < 10; i += 2) timers.remove(handles[static_cast<std::size_t>(i)]);
    std::vector<int> fired;
    while (!queue.empty())
        if (const int* timer = timers.find(Handle::from_id(queue.pop().id))) fired.push_back(*timer);
    EXPECT_EQ(fired, (std::vector<int>{9, 7, 5, 3, 1}));
}

TEST(Fingerprint, DependsOnEveryWordAndOnTheOrder) {
    const auto of = [](std::initializer_list<std::uint64_t> words) {
        Fingerprint f;
        for (const std::uint64_t word : words) f.add(word);
        return f.value();
    };
    EXPECT_EQ(of({1, 2, 3}), of({1, 2, 3}));
    EXPECT_NE(of({1, 2, 3}), of({1, 3, 2}));
    EXPECT_NE(of({0}), of({0, 0}));
    EXPECT_NE(of({}), of({0}));
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(seen[of({i, i / 7})]++, 0) << i;
    Fingerprint ab, a;
    ab.add("ab"), ab.add("c");
    a.add("a"), a.add("bc");
    EXPECT_NE(ab.value(), a.value());
}

TEST(Fingerprint, OneChangedBitChangesHalfOfTheResult) {
    int changed = 0;
    for (int bit = 0; bit < 64; ++bit) {
        Fingerprint f, g;
        for (std::uint64_t i = 0; i < 10; ++i) {
            f.add(i);
            g.add(i == 4 ? i ^ (std::uint64_t{1} << bit) : i);
        }
        changed += __builtin_popcountll(f.value() ^ g.value());
    }
    EXPECT_NEAR(changed / 64.0, 32.0, 3.0);
}

}  // namespace
}  // namespace rehearse

#include "runtime/pager/page_manager.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/pager/access_predictor.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

constexpr Bytes page{64ll << 20};
constexpr double page_alone_ms = (64 << 20) / 24.8e6, page_duplex_ms = (64 << 20) / 11.0e6;  // 2.706, 6.101

SimTime at_ms(double ms) { return SimTime{static_cast<std::int64_t>(ms * 1e9)}; }
double ms(SimTime time) { return static_cast<double>(time.value) * 1e-9; }

TEST(PcieLink, DirectionsSlowEachOther) {
    PcieLink link;
    link.start(SimTime{0}, CopyDirection::to_device, page, 1);
    EXPECT_NEAR(ms(link.next_end()), page_alone_ms, 1e-3);
    link.start(SimTime{0}, CopyDirection::to_host, page, 2);
    EXPECT_NEAR(ms(link.next_end()), page_duplex_ms, 1e-3);
    EXPECT_EQ(link.advance(at_ms(10)).size(), 2U);
    EXPECT_EQ(link.moved(CopyDirection::to_host), page);
}

// Two GPUs behind one switch: two copies to the device take as long as one of twice the size; the first began earlier.
TEST(PcieLink, CopiesOfOneDirectionShareIt) {
    PcieLink link;
    link.start(SimTime{0}, CopyDirection::to_device, page, 1);
    link.start(at_ms(page_alone_ms / 2), CopyDirection::to_device, page, 2);
    EXPECT_NEAR(ms(link.expected_end(1)), 1.5 * page_alone_ms, 1e-3);
    EXPECT_NEAR(ms(link.expected_end(2)), 2 * page_alone_ms, 1e-3);
}

PagerSpec ten_pages(std::uint32_t pages) { return {.pages = pages, .page = page, .budget = page * 10}; }

TEST(PageManager, LikelyPagesAreLoadedWhileEnoughIsFree) {
    PageManager pager(ten_pages(20));
    std::vector<float> probability(20, 0.0f);
    for (std::uint32_t i = 0; i < 9; ++i) probability[i] = 0.75f + 0.01f * static_cast<float>(i);
    probability[15] = 0.69f;
    pager.plan(SimTime{0}, probability);
    EXPECT_EQ(pager.state(8), PageState::loading);  // the likeliest six: then no more than 40 % are free
    EXPECT_EQ(pager.state(3), PageState::loading);
    EXPECT_EQ(pager.state(2), PageState::standby);
    EXPECT_EQ(pager.state(15), PageState::absent);
    EXPECT_EQ(pager.counters().loads, 6U);
}

// A fault half-way through the copy waits for the other half and starts no second copy.
TEST(PageManager, AFaultJoinsTheCopyUnderWay) {
    PageManager pager(ten_pages(4));
    pager.schedule(SimTime{0}, 2);
    const PageManager::Use use = pager.use(at_ms(page_alone_ms / 2), 2, PageAccess::write);
    EXPECT_EQ(use.action, Degradation::wait);
    EXPECT_NEAR(ms(use.ready), page_alone_ms, 1e-3);
    EXPECT_EQ(pager.counters().misses, 1U);
    EXPECT_EQ(pager.counters().faults, 1U);
    EXPECT_EQ(pager.counters().loads, 1U);
    EXPECT_NEAR(pager.counters().stall.seconds() * 1e3, page_alone_ms / 2, 1e-3);
}

TEST(PageManager, ThreeFaultsInARowSendTheWorkElsewhere) {
    PagerSpec spec = ten_pages(4);
    PageManager pager(spec);
    for (int i = 0; i < 3; ++i) {
        pager.schedule(at_ms(0.1 * i), 1);
        const Degradation expected = i < 2 ? Degradation::wait : Degradation::migrate;
        EXPECT_EQ(pager.use(at_ms(0.1 * i), 1, PageAccess::read).action, expected) << i;
        pager.release(at_ms(0.1 * i), 1);
    }
    EXPECT_EQ(pager.counters().migrations, 1U);
}

TEST(PageManager, DropsWhenEveryPageIsInUse) {
    PageManager pager({.pages = 3, .page = page, .budget = page * 2});
    for (const std::uint32_t i : {0u, 1u, 2u}) pager.schedule(SimTime{0}, i);
    EXPECT_EQ(pager.use(at_ms(20), 0, PageAccess::read).action, Degradation::none);
    EXPECT_EQ(pager.use(at_ms(20), 2, PageAccess::read).action, Degradation::drop);
    EXPECT_EQ(pager.counters().drops, 1U);
}

// Written pages go back over PCIe; one that is wanted on its way out stays and costs nothing.
TEST(PageManager, AWrittenPageIsCopiedBackAndMayBeKept) {
    PageManager pager({.pages = 2, .page = page, .budget = page});
    pager.schedule(SimTime{0}, 0);
    pager.use(at_ms(5), 0, PageAccess::write);
    pager.release(at_ms(5), 0);
    pager.plan(at_ms(6), std::vector<float>{0.1f, 0.9f});
    EXPECT_EQ(pager.state(0), PageState::evicting);
    pager.schedule(at_ms(7), 0);
    EXPECT_EQ(pager.use(at_ms(7), 0, PageAccess::read).action, Degradation::none);
    EXPECT_EQ(pager.state(0), PageState::resident);
    EXPECT_EQ(pager.held(), page);
}

// Whatever is asked in whatever order, the pages held never exceed the budget, every fault is accounted for, and two
// managers that are asked the same decide the same.
TEST(PageManager, NeverExceedsItsBudget) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        std::uint64_t state = seed;
        const auto draw = [&](std::uint64_t n) { return splitmix64(state) % n; };
        const auto budget = static_cast<std::int64_t>(1 + draw(12));
        const PagerSpec spec{.pages = 24, .page = page, .budget = page * budget};
        PageManager pager(spec), twin(spec);
        std::vector<std::uint32_t> users;
        std::vector<float> probability(24);
        SimTime now;
        for (int i = 0; i < 400; ++i) {
            now = now + SimDuration{static_cast<std::int64_t>(draw(2'000'000'000))};
            const auto index = static_cast<std::uint32_t>(draw(24));
            const auto what = draw(4);
            if (what == 0) {
                for (float& p : probability) p = static_cast<float>(draw(100)) / 100;
                pager.plan(now, probability);
                twin.plan(now, probability);
            } else if (what < 3) {
                pager.schedule(now, index);
                twin.schedule(now, index);
                const PageAccess access = i % 2 == 0 ? PageAccess::write : PageAccess::read;
                EXPECT_EQ(pager.use(now, index, access).ready, twin.use(now, index, access).ready);
                users.push_back(index);
            } else if (!users.empty()) {
                pager.release(now, users.back());
                twin.release(now, users.back());
                users.pop_back();
            }
            ASSERT_LE(pager.held(), spec.budget) << seed << " " << i;
        }
        const PagerCounters& counters = pager.counters();
        EXPECT_EQ(counters.faults, counters.waits + counters.migrations + counters.drops);
        EXPECT_LE(counters.faults, counters.uses);
    }
}

TEST(PageManager, RefusesAPageLargerThanItsBudget) {
    EXPECT_THROW(PageManager({.pages = 1, .page = page * 2, .budget = page}), InputError);
    EXPECT_THROW(PageManager({.pages = 1, .page = page, .budget = page, .load_above = 0.1}), InputError);
}

// A third of the pages are used in turn, in a fixed rhythm; the predictor learns who comes next better than the share.
TEST(AccessPredictor, LearnsWhatIsUsed) {
    AccessPredictor predictor(30, 1), twin(30, 1);
    double first = 0, last = 0;
    for (std::uint64_t step = 0; step < 200; ++step) {
        std::vector<std::uint64_t> tokens(30, 0);
        for (std::uint32_t i = 0; i < 30; ++i)
            if (i < 6 || (i + step) % 7 == 0) tokens[i] = 50;
        predictor.predict(0.5);
        twin.predict(0.5);
        predictor.learn(tokens);
        twin.learn(tokens);
        if (step == 0) first = predictor.loss();
        last = predictor.loss();
    }
    EXPECT_LT(last, 0.5 * first);
    EXPECT_LT(last, -(0.33 * std::log(0.33) + 0.67 * std::log(0.67)));  // of one who knows the share only
    const auto p = predictor.predict(0.5), q = twin.predict(0.5);
    EXPECT_TRUE(std::equal(p.begin(), p.end(), q.begin()));
}

}  // namespace
}  // namespace rehearse

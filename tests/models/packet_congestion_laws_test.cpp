// Congestion-control laws as state machines, against hand-made sequences of events. Rates in Gbit/s, times in us.
#include <gtest/gtest.h>

#include <cmath>

#include "models/network/packet/congestion_laws.hpp"

namespace rehearse {
namespace {

constexpr double giga = 1e9;
constexpr std::int64_t us = 1'000'000;  // ps

PathFacts path_of_400g() { return {400 * giga, 10 * us, 4000 * 8.0, 3}; }  // 125 packets of 4,000 bytes fill it

DcqcnParameters set_of(DcqcnSet set) { return dcqcn_parameters(set, gigabits_per_second(400)); }

// Nothing happens without a CNP; the first one, alpha being 1, halves the rate.
TEST(Dcqcn, FirstNoticeHalves) {
    const DcqcnParameters p = set_of(DcqcnSet::paper);
    DcqcnState state = begin_dcqcn(path_of_400g(), p);
    sent(state, 5000 * us, 4000, p);
    EXPECT_DOUBLE_EQ(state.rate, 400 * giga);
    notify(state, 6000 * us, p);
    EXPECT_DOUBLE_EQ(state.rate, 200 * giga);
    EXPECT_DOUBLE_EQ(state.target, 400 * giga);
}

// Two cuts leave Rc = 100, Rt = 200. F = 5 halvings: Rt - 100 / 32; then Rt grows by Rai per timer, and by Rhai only
// once the byte counter has expired more than F times too.
TEST(Dcqcn, PaperRecoversInStages) {
    const DcqcnParameters p = set_of(DcqcnSet::paper);
    DcqcnState state = begin_dcqcn(path_of_400g(), p);
    notify(state, 0, p);
    notify(state, 50 * us, p);
    EXPECT_DOUBLE_EQ(state.rate, 100 * giga);
    const auto timers = [&](int n) { advance(state, 50 * us + n * 55 * us, p); };
    timers(5);
    EXPECT_DOUBLE_EQ(state.rate, 200 * giga - 100 * giga / 32);
    timers(7);
    EXPECT_NEAR(state.target, 200.08 * giga, 1);
    for (int i = 0; i < 6; ++i) sent(state, 50 * us + 7 * 55 * us, 10'000'000, p);
    EXPECT_NEAR(state.target, (200.08 + 6 * 0.04) * giga, 1);
    timers(8);
    EXPECT_NEAR(state.target, (200.08 + 6 * 0.04 + 0.4) * giga, 1);
}

// Cuts in a row keep the target of the first. Without a byte counter the timer alone counts: one halving, one Rai, then
// Rhai; both scale with the line rate.
TEST(Dcqcn, RepositoryRecoversByTimer) {
    const DcqcnParameters p = set_of(DcqcnSet::hpcc_repository);
    DcqcnState state = begin_dcqcn(path_of_400g(), p);
    notify(state, 0, p);
    notify(state, 4 * us, p);
    const double second = 200 * giga * (1 - std::pow(1 - p.g, 3) / 2);  // alpha has decayed for 3 us
    EXPECT_NEAR(state.rate, second, 1);
    EXPECT_DOUBLE_EQ(state.target, 400 * giga);
    advance(state, 304 * us, p);
    EXPECT_NEAR(state.rate, (400 * giga + second) / 2, 1);
    const double target = state.rate;
    notify(state, 310 * us, p);
    EXPECT_DOUBLE_EQ(state.target, target);
    advance(state, 610 * us, p);
    EXPECT_DOUBLE_EQ(state.target, target);
    advance(state, 910 * us, p);
    EXPECT_NEAR(state.target, target + 0.08 * giga, 1);
    advance(state, 1210 * us, p);
    EXPECT_NEAR(state.target, target + 0.88 * giga, 1);
}

TEST(Dcqcn, NoticesWithinTheGapCutOnce) {
    const DcqcnParameters p = set_of(DcqcnSet::hpcc_repository);
    DcqcnState state = begin_dcqcn(path_of_400g(), p);
    for (std::int64_t t = 0; t < 4 * us; t += us / 10) notify(state, t, p);
    EXPECT_DOUBLE_EQ(state.rate, 200 * giga);
    notify(state, 4 * us, p);
    EXPECT_DOUBLE_EQ(state.rate, 100 * giga);
}

TEST(Dcqcn, RateKeepsItsBounds) {
    for (const DcqcnSet set : {DcqcnSet::paper, DcqcnSet::hpcc_repository, DcqcnSet::connectx}) {
        const DcqcnParameters p = set_of(set);
        DcqcnState state = begin_dcqcn(path_of_400g(), p);
        for (int i = 0; i < 1000; ++i) notify(state, i * 50 * us, p);
        EXPECT_DOUBLE_EQ(state.rate, p.rate_min);
        advance(state, 50'000 * us + 3'000'000'000'000, p);  // 3 s of recovery
        EXPECT_GT(state.rate, 2 * p.rate_min);
        EXPECT_LE(state.rate, 400 * giga);
    }
}

// n periods without CNP: (1 - g)^n. A period of marks raises it again.
TEST(Dcqcn, AlphaFollowsTheShareOfMarkedPeriods) {
    const DcqcnParameters p = set_of(DcqcnSet::connectx);
    MarkShare share;
    raise(share, 0, p);
    advance(share, 100 * us + 1, p);
    EXPECT_NEAR(share.alpha, std::pow(1 - p.g, 100), 1e-12);
    const double before = share.alpha;
    raise(share, 100 * us + 2, p);
    raise(share, 100 * us + 3, p);  // the same period
    EXPECT_NEAR(share.alpha, before * (1 - p.g) + p.g, 1e-12);
}

AckEvent ack(std::int64_t now, std::int64_t delay, bool marked = false) {
    AckEvent event;
    event.now = now;
    event.delay = delay;
    event.is_marked = marked;
    event.newly = 1;
    return event;
}

TEST(Swift, TargetScalesWithHopsAndWindow) {
    const SwiftParameters p;
    const double base = 20.0 * us, hop = base / 6.55;
    EXPECT_NEAR(swift_target(100, 0, p), base, 1);
    EXPECT_NEAR(swift_target(100, 5, p), base + 5 * hop, 2);
    EXPECT_NEAR(swift_target(0.1, 0, p), base + 100.0 * us, 1);
    // range (1/sqrt(w) - 1/10) / (1/sqrt(0.1) - 1/10) at w = 25
    EXPECT_NEAR(swift_target(25, 0, p), base + 100.0 * us * 0.1 / (std::sqrt(10.0) - 0.1), 1);
}

// ai per round trip: 40 ACKs, each 1 / w.
TEST(Swift, GrowsByOnePacketPerRoundTrip) {
    const SwiftParameters p;
    SwiftState state = begin_swift(path_of_400g(), p);
    EXPECT_DOUBLE_EQ(state.window, 100);  // 125 would fill the path, the law's most is 100
    state.window = 40;
    double expected = 40;
    for (int i = 0; i < 40; ++i) {
        acknowledge(state, ack(i * us, 10 * us), path_of_400g(), p);
        expected += 1 / expected;
    }
    EXPECT_NEAR(state.window, expected, 1e-12);
    EXPECT_NEAR(state.window, 41, 0.02);
}

TEST(Swift, CutsOncePerRoundTrip) {
    const SwiftParameters p;
    SwiftState state = begin_swift(path_of_400g(), p);
    const double target = swift_target(100, 3, p);
    const auto delay = static_cast<std::int64_t>(2 * target);
    acknowledge(state, ack(100 * us, delay), path_of_400g(), p);
    EXPECT_NEAR(state.window, 100 * (1 - 0.8 / 2), 1e-6);
    acknowledge(state, ack(100 * us + delay - 1, delay), path_of_400g(), p);
    EXPECT_NEAR(state.window, 60, 1e-6);
    acknowledge(state, ack(100 * us + 100 * delay, 100 * delay), path_of_400g(), p);
    EXPECT_NEAR(state.window, 30, 1e-6);  // max_mdf
}

// Under one packet in flight: one packet at a time, window per round trip of them.
TEST(Swift, PacesBelowOnePacket) {
    const SwiftParameters p;
    SwiftState state = begin_swift(path_of_400g(), p);
    state.window = 0.25;
    state.delay = 100 * us;
    const Allowance may = allowance(state, path_of_400g());
    EXPECT_EQ(may.window, 1U);
    EXPECT_NEAR(may.rate, 0.25 * 4000 * 8 / 100e-6, 1);
}

TEST(Megascale, TheLargerCutWins) {
    const MegascaleParameters p{{}, set_of(DcqcnSet::paper)};
    const PathFacts path = path_of_400g();  // target 10 + 10 us
    MegascaleState by_mark = begin_megascale(path, p), by_delay = by_mark, by_both = by_mark;
    acknowledge(by_mark, ack(100 * us, 15 * us, true), path, p);
    EXPECT_DOUBLE_EQ(by_mark.rate, 200 * giga);  // alpha 1
    acknowledge(by_delay, ack(100 * us, 40 * us), path, p);
    EXPECT_DOUBLE_EQ(by_delay.rate, 400 * giga * (1 - 0.8 * 20 / 40));
    by_both.share.alpha = 0.1;
    acknowledge(by_both, ack(100 * us, 40 * us, true), path, p);
    EXPECT_DOUBLE_EQ(by_both.rate, 400 * giga * (1 - 0.8 * 20 / 40));
    acknowledge(by_both, ack(139 * us, 40 * us, true), path, p);  // within the round trip
    EXPECT_DOUBLE_EQ(by_both.rate, 240 * giga);
}

// One packet per round trip more, each round trip: 10 us apart, 32,000 bits / 10 us = 3.2 Gbit/s.
TEST(Megascale, GrowsBySwiftsIncrease) {
    const MegascaleParameters p{{}, set_of(DcqcnSet::paper)};
    MegascaleState state = begin_megascale(path_of_400g(), p);
    state.rate = 100 * giga;
    for (std::int64_t t = us; t <= 100 * us; t += us) acknowledge(state, ack(t, 10 * us), path_of_400g(), p);
    EXPECT_NEAR(state.rate, (100 + 10 * 3.2) * giga, 1);
}

// One hop of 400 Gbit/s, T = 10 us; 500,000 bytes left it in 10 us: it is full, and 250,000 bytes wait: U = 1.5.
TEST(Hpcc, WindowFollowsTheBusiestHop) {
    const HpccParameters p;
    const PathFacts path = path_of_400g();
    HpccState state = begin_hpcc(path);
    EXPECT_DOUBLE_EQ(state.window, 125);
    HopRecord hop{0, 0, 250'000, 400 * giga, 7};
    AckEvent event;
    event.hops = {&hop, 1};
    event.acked = 1, event.next = 126;
    acknowledge(state, event, path, p);
    EXPECT_DOUBLE_EQ(state.window, 125);  // one record says nothing of a rate
    hop.time = 10 * us, hop.sent = 500'000;
    event.acked = 2;
    acknowledge(state, event, path, p);
    EXPECT_NEAR(state.utilisation, 1.5, 1e-9);
    EXPECT_NEAR(state.window, 125 * 0.95 / 1.5 + 0.01, 1e-9);
    // Until packet 126 is acknowledged the reference stays; the window follows U from there.
    const double reference = state.window_reference;
    hop.time = 20 * us, hop.sent = 1'000'000, hop.queue = 0;
    event.acked = 3;
    acknowledge(state, event, path, p);
    EXPECT_DOUBLE_EQ(state.window_reference, reference);
    EXPECT_NEAR(state.window, reference * 0.95 / 1.0 + 0.01, 1e-9);
}

// Below eta: W_AI per round trip, five times; then a multiplicative step up.
TEST(Hpcc, FiveAdditiveStepsThenOneUp) {
    const HpccParameters p;
    const PathFacts path = path_of_400g();
    HpccState state = begin_hpcc(path);
    state.window = state.window_reference = 50;
    HopRecord hop{0, 0, 0, 400 * giga, 7};
    AckEvent event;
    event.hops = {&hop, 1};
    for (std::uint32_t i = 0; i <= 5; ++i) {  // the first only sets the records
        acknowledge(state, event, path, p);
        hop.time += 10 * us, hop.sent += 250'000;  // half full
        event.acked = event.next + 1, event.next = event.acked + 10;
    }
    EXPECT_NEAR(state.window, 50 + 5 * 0.01, 1e-9);
    acknowledge(state, event, path, p);
    EXPECT_NEAR(state.window, 50.05 * 0.95 / 0.5 + 0.01, 1e-6);
}

// Named sets of facts: values of the tables, and their scaling with the rate.
TEST(CongestionSets, EcnProfiles) {
    const EcnSpec sonic = ecn_profile(EcnSet::sonic, gigabits_per_second(400));
    EXPECT_EQ(sonic.mark_min, Bytes{1 << 20});
    EXPECT_EQ(sonic.mark_max, Bytes{2 << 20});
    EXPECT_DOUBLE_EQ(sonic.mark_probability.value, 0.05);
    EXPECT_EQ(ecn_profile(EcnSet::simai, gigabits_per_second(200)).mark_max, Bytes{1'200'000});
    EXPECT_EQ(ecn_profile(EcnSet::simai, gigabits_per_second(400)).mark_min, Bytes{800'000});
    EXPECT_EQ(ecn_profile(EcnSet::simai, gigabits_per_second(800)).mark_min, Bytes{1'600'000});
    EXPECT_EQ(ecn_profile(EcnSet::hpcc_repository, gigabits_per_second(100)).mark_max, Bytes{1'600'000});
    for (const EcnSet set : {EcnSet::sonic, EcnSet::simai, EcnSet::dcqcn_paper, EcnSet::hpcc_repository}) {
        const EcnSpec spec = ecn_profile(set, gigabits_per_second(400));
        EXPECT_EQ(spec.enabled, Switch::on);
        EXPECT_LT(spec.mark_min, spec.mark_max);
    }
}

}  // namespace
}  // namespace rehearse

// EthLink's RDMA and load/store against times worked out by hand, and the size at which one takes over from the other.
#include <gtest/gtest.h>

#include "models/network/ethlink.hpp"

namespace rehearse {
namespace {

// No headers, 400 Gbps: 20 ps a byte. Load/store: 4 units x 16 KiB in 2 us are 30.52 ps a byte, so the window limits.
EthLinkSpec plain() {
    EthLinkSpec spec;
    spec.framing = Framing::none;
    return spec;
}

TEST(EthLink, TimesByHand) {
    const EthLinkSpec spec = plain();
    const Bytes size{65536};  // one window: a round trip
    EXPECT_EQ(transfer_time(spec, EthLinkSemantics::rdma, size), nanoseconds(800 + 1000 + 500) + SimDuration{1310720});
    EXPECT_EQ(transfer_time(spec, EthLinkSemantics::load_store, size), nanoseconds(1000 + 2000));
    EXPECT_DOUBLE_EQ(compute_unit_seconds(spec, EthLinkSemantics::rdma, size), 0.2e-6);
    EXPECT_DOUBLE_EQ(compute_unit_seconds(spec, EthLinkSemantics::load_store, size), 4 * 3e-6);
}

TEST(EthLink, LineRateLimitsLoadStoreWhereTheWindowDoesNot) {
    EthLinkSpec spec = plain();
    spec.units = 64;
    EXPECT_EQ(transfer_time(spec, EthLinkSemantics::load_store, Bytes{100'000}), nanoseconds(1000 + 2000));
}

// 1,300 ns of fixed time over a slope of 2 us / 64 KiB - 20 ps = 10.5176 ps a byte.
TEST(EthLink, UrgentMessagesCrossOverWhereTheLinesDo) {
    const EthLinkSpec spec = plain();
    const double by_hand = 1300e3 / (2e6 / 65536 - 20);
    const Bytes size = cross_over(spec, Urgency::urgent);
    EXPECT_NEAR(static_cast<double>(size.value), by_hand, 2);
    EXPECT_EQ(choose_semantics(spec, size, Urgency::urgent), EthLinkSemantics::load_store);
    EXPECT_EQ(choose_semantics(spec, Bytes{size.value + 1}, Urgency::urgent), EthLinkSemantics::rdma);
}

// A unit waits for the way at least, which is longer than it takes to post a request.
TEST(EthLink, HiddenMessagesNeverTieUpComputeUnits) {
    EthLinkSpec spec = plain();
    EXPECT_EQ(cross_over(spec, Urgency::hidden), Bytes{0});
    spec.units = 1;
    spec.post = nanoseconds(1500);
    const auto by_hand = static_cast<std::int64_t>(500e3 / (2e6 / 16384));
    EXPECT_NEAR(static_cast<double>(cross_over(spec, Urgency::hidden).value), static_cast<double>(by_hand), 1);
}

// Headers weigh more on small packets, so that load/store loses earlier; never the other way.
TEST(EthLink, MoreHeadersMoveTheCrossOverDown) {
    EthLinkSpec spec = plain();
    spec.units = 16;  // the window is no limit
    spec.framing = Framing::oefh;
    const Bytes lean = cross_over(spec, Urgency::urgent);
    spec.framing = Framing::rocev2_ipv6;
    EXPECT_LT(cross_over(spec, Urgency::urgent), lean);
    spec.framing = Framing::none;
    EXPECT_EQ(cross_over(spec, Urgency::urgent, Bytes{1'000'000}), Bytes{1'000'000});  // as fast, and at once
}

}  // namespace
}  // namespace rehearse

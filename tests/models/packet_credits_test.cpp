// Credit-based flow control against closed forms: 400 Gbps, links of equal latency, packets of MTU + 64 bytes.
#include <gtest/gtest.h>

#include "models/network/traffic_matrix.hpp"
#include "sim/base/fault.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::PacketBed;

NetworkSpec credit_network(std::int64_t mtu = 4096) {
    NetworkSpec network = PacketBed::plain_network();
    network.flow_control = FlowControl::cbfc;
    network.mtu = Bytes{mtu};
    return network;
}

TEST(CreditCounters, AreCyclicAndRepairALeak) {
    CreditSend send{credit_mask, credit_mask};  // about to wrap
    CreditReceive receive{credit_mask, credit_mask, credit_mask};
    EXPECT_TRUE(send.take(33, 66));
    EXPECT_TRUE(send.take(33, 66));
    EXPECT_FALSE(send.take(1, 66));
    EXPECT_EQ(send.consumed, 65U);
    receive.arrive(33);  // one of the two packets was lost
    receive.free(33);
    EXPECT_EQ(receive.untold(), 33U);
    EXPECT_EQ(receive.repair(send.consumed), 33U);
    send.freed = receive.freed;
    EXPECT_EQ(send.used(), 0U);
    EXPECT_EQ(receive.repair(send.consumed), 0U);  // nothing more had leaked
}

struct Link {
    std::int64_t mtu, latency_ns;
};

class CreditRate : public ::testing::TestWithParam<Link> {
protected:
    // rate x (loop + spacing): two latencies and the serialisation of a packet at 50 bytes per ns, and 6,400 bytes; in
    // whole packets, because a fraction can't be sent.
    static double rule() {
        const auto [mtu, latency_ns] = GetParam();
        const std::int64_t wire = mtu + 64;
        return static_cast<double>((50 * 2 * latency_ns + wire + 6400 + wire - 1) / wire * wire);
    }
    // Share of the line rate that a long flow under one ToR reaches with so many bytes of credit; 0: the default.
    static double rate(double credit) {
        const auto [mtu, latency_ns] = GetParam();
        PacketSpec spec;
        spec.cbfc.buffer = Bytes{static_cast<std::int64_t>(credit)};
        ClusterSpec fabric = fat_tree(4);
        fabric.fabric.link_latency = nanoseconds(latency_ns);
        PacketBed bed(fabric, spec, credit_network(mtu));
        const std::int64_t packets = 5000;
        const std::uint32_t one = bed.send(0, 1, packets * mtu);
        bed.run();
        EXPECT_TRUE(bed.all_done());
        const double path = 2e-3 * static_cast<double>(2 * latency_ns);
        const double line = 0.02e-3 * static_cast<double>((packets + 1) * (mtu + 64)) + 2 * 0.02e-3 * 64;
        return line / (bed.microseconds_of(one) - path);
    }
};

TEST_P(CreditRate, TheDefaultReachesLineRate) { EXPECT_NEAR(rate(0), 1, 1e-3); }

INSTANTIATE_TEST_SUITE_P(Links, CreditRate,
                         ::testing::Values(Link{4096, 500}, Link{1024, 500}, Link{4096, 2500}, Link{256, 150}));

// Packets of 5, 10 and 25 credits, which the spacing of 50 credits is a multiple of.
using CreditRule = CreditRate;

TEST_P(CreditRule, ReachesLineRate) { EXPECT_NEAR(rate(rule()), 1, 2e-3); }
TEST_P(CreditRule, HalfOfItGivesHalf) { EXPECT_NEAR(rate(rule() / 2), 0.5, 0.04); }

INSTANTIATE_TEST_SUITE_P(Links, CreditRule,
                         ::testing::Values(Link{576, 590}, Link{1216, 590}, Link{1216, 2500}, Link{3136, 590},
                                           Link{3136, 2500}));

// N P packets share the last link; credits stop the senders, nothing is dropped and no pause is sent.
TEST(Credits, IncastDropsNothing) {
    PacketBed bed(fat_tree_with_ecmp(8), {}, credit_network());
    for (const TrafficPair& pair : incast(127)) bed.send(pair.source, pair.destination, 200'000);
    bed.run();
    double end = 0;
    for (std::uint32_t i = 0; i < 127; ++i) end = std::max(end, bed.microseconds_of(i));
    const double link = 127 * (200'000 + 49 * 64) * 0.02e-3;
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.total().drops + bed.total().pauses, 0U);
    EXPECT_NEAR(end, link + 5, 0.004 * link);
}

// Every virtual channel has credits of its own: 31 flows of one NIC, a channel each, share its link.
TEST(Credits, ThirtyTwoChannels) {
    PacketSpec spec;
    spec.classes = 32;
    PacketBed bed(fat_tree(4), spec, credit_network());
    for (std::uint8_t channel = 1; channel < 32; ++channel) {
        bed.engine.connect({.source = GpuId{0},
                            .destination = GpuId{channel % 15u + 1},
                            .message = Bytes{40'960},
                            .start = SimTime{},
                            .traffic_class = channel});
    }
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.total().drops, 0U);
}

// A lost CF_Update is made good by the next one; where the sender is blocked, by the answer to its CC_Update. A sender
// with two packets of credit is blocked by every lost update, so each of them costs 256 us at most.
TEST(Credits, LostUpdatesAreMadeGood) {
    PacketSpec spec;
    spec.cbfc.update_loss = Ratio{0.2};
    spec.cbfc.buffer = Bytes{2 * 33 * 128 + 2176};
    PacketBed bed(fat_tree(4), spec, credit_network());
    const std::uint32_t one = bed.send(0, 1, 400 * 4096);
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_GT(bed.total().losses, 20U);
    const double undisturbed = 200 * (1.0 + 3 * 0.0832 + 0.002);
    EXPECT_LT(bed.microseconds_of(one), undisturbed + 256.0 * static_cast<double>(bed.total().losses));
}

// The credits of a lost data packet come back with the CC_Update: a sender with two packets of credit that loses both
// waits for it, 256 us after its first packet; then its own timeout must send them again.
TEST(Credits, LeakedCreditIsBackWithTheNextCheck) {
    PacketSpec spec;
    spec.cbfc.buffer = Bytes{2 * 33 * 128 + 2176};
    spec.transport.timeout_exponent = 4;  // 65.5 us: long over when the credits are back
    spec.transport.retries = 10;
    PacketBed bed(fat_tree(4), spec, credit_network());
    const std::uint32_t one = bed.send(0, 1, 2 * 4096);
    bed.lose(bed.uplink_of(0), SimTime{0}, SimTime{100'000});  // both packets
    bed.run();
    EXPECT_EQ(bed.total().losses, 2U);
    EXPECT_TRUE(bed.all_done());
    const double check = 256 + 84 * 0.02e-3 + 0.5;              // CC_Update there ...
    const double update = 8 * 0.02e-3 + 0.5;                    // ... CF_Update back
    const double path = 2 * (0.5 + 0.0832) + 0.0832 + 2 * (0.5 + 0.00128);
    EXPECT_NEAR(bed.microseconds_of(one), check + update + path, 0.005);
}

// Whatever is lost, with and without link-level retry, in a crowded fabric: every flow ends, nothing is dropped for
// lack of room, and all credits come back.
TEST(Credits, AreConserved) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        PacketSpec spec;
        spec.classes = 2 + static_cast<std::int64_t>(seed % 3);
        spec.llr.enabled = seed % 2 == 0 ? Switch::on : Switch::off;
        spec.loss.data = spec.loss.control = Ratio{seed % 4 < 2 ? 0.0 : 1e-3};
        spec.cbfc.update_loss = Ratio{seed % 5 == 0 ? 0.01 : 0.0};
        spec.transport.recovery = seed % 3 == 0 ? LossRecovery::selective_repeat : LossRecovery::go_back_n;
        spec.transport.timeout_exponent = 7;
        spec.transport.retries = 50;
        PacketBed bed(fat_tree_with_ecmp(4), spec, credit_network(seed % 2 == 0 ? 4096 : 1024), seed);
        const std::vector<std::uint32_t> to = permutation(16, seed);
        for (std::uint32_t i = 0; i < 16; ++i) {
            bed.send(i, to[i], 100'000 + 7'001 * i);
            if (i != 3) bed.send(i, 3, 50'000);
        }
        if (seed % 3 == 1) {
            bed.engine.add_fault({.link = bed.uplink_of(5), .begin = SimTime{8'000'000}, .end = SimTime{30'000'000}});
        }
        bed.run();
        EXPECT_TRUE(bed.all_done()) << seed;
        EXPECT_EQ(bed.total().drops, 0U) << seed;
        EXPECT_EQ(bed.engine.credits_out(), 0U) << seed;
    }
}

TEST(Credits, BadInput) {
    PacketSpec few;
    few.cbfc.buffer = Bytes{4224};
    EXPECT_THROW(PacketBed(fat_tree(4), few, credit_network()), InputError);
    PacketSpec none;
    none.cbfc.credit = Bytes{0};
    EXPECT_THROW(PacketBed(fat_tree(4), none, credit_network()), InputError);
    PacketSpec deaf;
    deaf.cbfc.update_loss = Ratio{1.0};
    EXPECT_THROW(PacketBed(fat_tree(4), deaf, credit_network()), InputError);
    PacketSpec full;
    full.buffer.pool = Bytes{100'000};
    EXPECT_THROW(PacketBed(fat_tree(4), full, credit_network()), InputError);
}

}  // namespace
}  // namespace rehearse

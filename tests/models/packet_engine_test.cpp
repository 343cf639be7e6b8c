// Packets on idle and crowded paths, against closed forms. Fat trees of 400 Gbps and 500 ns a link; a packet of 4,096 +
// 64 bytes takes 83.2 ns, an ACK of 64 bytes 1.28 ns.
#include <gtest/gtest.h>

#include "models/network/traffic_matrix.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::PacketBed;

struct Distance {
    std::uint32_t to;
    double links;
};

class PacketPath : public ::testing::TestWithParam<Distance> {};

// H links: H (500 + 83.2) out, H (500 + 1.28) back.
TEST_P(PacketPath, OnePacketAndItsAck) {
    PacketBed bed(fat_tree(8));
    const std::uint32_t one = bed.send(0, GetParam().to, 4096);
    bed.run();
    EXPECT_NEAR(bed.microseconds_of(one), GetParam().links * (0.5832 + 0.50128), 1e-9);
}

// 489 packets one behind the other, the last as long as the others: 488 x 83.2 ns more.
TEST_P(PacketPath, TwoMegabytes) {
    PacketSpec spec;
    spec.transport.pad_last = Switch::on;
    PacketBed bed(fat_tree(8), spec);
    const std::uint32_t one = bed.send(0, GetParam().to, 2'000'000);
    bed.run();
    EXPECT_NEAR(bed.microseconds_of(one), GetParam().links * (0.5832 + 0.50128) + 488 * 0.0832, 1e-9);
}

// Cut-through: each switch has it after 64 of its 4,160 bytes, 1.28 ns; the receiving NIC after all of them.
TEST_P(PacketPath, CutThroughWaitsForTheHeadersOnly) {
    PacketSpec spec;
    spec.switching = Switching::cut_through;
    spec.transport.pad_last = Switch::on;
    const double path = (GetParam().links - 1) * (0.5 + 0.00128) + 0.5832 + GetParam().links * 0.50128;
    PacketBed one_packet(fat_tree(8), spec), many(fat_tree(8), spec);
    const std::uint32_t one = one_packet.send(0, GetParam().to, 4096), all = many.send(0, GetParam().to, 2'000'000);
    one_packet.run();
    many.run();
    EXPECT_NEAR(one_packet.microseconds_of(one), path, 1e-9);
    EXPECT_NEAR(many.microseconds_of(all), path + 488 * 0.0832, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Hops, PacketPath, ::testing::Values(Distance{1, 2}, Distance{9, 4}, Distance{127, 6}));

// Data packets that cross a link, from the sum over the flows of packets x links: independent of the routing.
TEST(PacketEngine, PermutationTransmissions) {
    PacketSpec spec;
    spec.transport.pad_last = Switch::on;
    PacketBed bed(fat_tree_with_ecmp(8), spec);
    const std::vector<std::uint32_t> to = permutation(128, 1);
    for (std::uint32_t i = 0; i < 128; ++i) bed.send(i, to[i], 2'000'000);
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.total().data, 356'970U);  // 489 x 730 links
    EXPECT_EQ(bed.total().control, 356'970U);
    EXPECT_EQ(bed.total().drops, 0U);
}

// N senders of P packets each share one link: N P x 83.2 ns, then the path.
TEST(PacketEngine, IncastEndsWhenTheLinkHasCarriedAll) {
    PacketSpec spec;
    spec.transport.pad_last = Switch::on;
    PacketBed bed(fat_tree_with_ecmp(8), spec);
    for (const TrafficPair& pair : incast(127)) bed.send(pair.source, pair.destination, 1'000'000);
    bed.run();
    double end = 0;
    for (std::uint32_t i = 0; i < 127; ++i) end = std::max(end, bed.microseconds_of(i));
    const double link = 127 * 245 * 0.0832;
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.total().data, 177'870U);
    EXPECT_EQ(bed.total().drops, 0U);
    EXPECT_GT(bed.total().pauses, 0U);
    EXPECT_NEAR(end, link + 5, 0.003 * link);
}

// Two senders under one ToR that tie for ever share the receiver's link.
TEST(PacketEngine, SendersThatTieShare) {
    PacketBed bed(fat_tree(8));
    const std::uint32_t a = bed.send(1, 0, 20'000'000), b = bed.send(2, 0, 20'000'000);
    bed.engine.run(SimTime{400'000'000});
    (void)a, (void)b;
    const auto carried = [&](std::uint32_t host) {
        return static_cast<double>(bed.engine.counters()[bed.graph.first_port(bed.graph.nic_of(GpuId{host}))].data);
    };
    EXPECT_NEAR(carried(1) / carried(2), 1, 0.01);
}

TEST(PacketEngine, SameSeedSameFingerprint) {
    const auto fingerprint = [](std::uint64_t seed) {
        PacketSpec spec;
        spec.loss.data = Ratio{1e-3};
        PacketBed bed(fat_tree_with_ecmp(4), spec, PacketBed::plain_network(), seed);
        const std::vector<std::uint32_t> to = permutation(16, 3);
        for (std::uint32_t i = 0; i < 16; ++i) bed.send(i, to[i], 500'000);
        bed.run();
        return bed.engine.fingerprint();
    };
    EXPECT_EQ(fingerprint(1), fingerprint(1));
    EXPECT_NE(fingerprint(1), fingerprint(2));
}

// The engine may stop and go on anywhere.
TEST(PacketEngine, StoppingChangesNothing) {
    const auto fingerprint = [](SimDuration step) {
        PacketBed bed(fat_tree_with_ecmp(4));
        for (std::uint32_t i = 1; i < 16; ++i) bed.send(i, 0, 100'000);
        for (SimTime at; bed.engine.next_event_time() < SimTime{INT64_MAX}; at = at + step) bed.engine.run(at);
        return bed.engine.fingerprint();
    };
    EXPECT_EQ(fingerprint(nanoseconds(137)), fingerprint(milliseconds(1)));
}

}  // namespace
}  // namespace rehearse

// Packets of one connection on many paths. 400 Gbps and 500 ns a link, 4,096 + 64 bytes a packet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/network/packet/split_message.hpp"
#include "models/network/traffic_matrix.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree_with_ecmp;
using testing::PacketBed;

PacketSpec on_paths(PathChoice paths) {
    PacketSpec spec;
    spec.transport.paths = paths;
    spec.transport.recovery = LossRecovery::selective_repeat;
    return spec;
}

// Transmissions on the up-links of host 0's ToR.
std::vector<std::uint64_t> up_links(const PacketBed& bed) {
    const std::uint32_t nic = bed.graph.first_port(bed.graph.nic_of(GpuId{0}));
    const std::uint32_t tor = bed.graph.port(bed.graph.port(nic).peer).node;
    std::vector<std::uint64_t> sent;
    for (std::uint32_t i = 0; i < bed.graph.ports_of(tor); ++i) {
        const std::uint32_t port = bed.graph.first_port(tor) + i;
        if (bed.graph.is_switch(bed.graph.port(bed.graph.port(port).peer).node)) {
            sent.push_back(bed.engine.counters()[port].data);
        }
    }
    return sent;
}

std::size_t used(const std::vector<std::uint64_t>& links) {
    return links.size() - static_cast<std::size_t>(std::count(links.begin(), links.end(), 0u));
}

// The packets go round the paths: each of four up-links gets a quarter.
TEST(Spraying, UsesAllPathsAlike) {
    PacketBed bed(fat_tree_with_ecmp(8), on_paths(PathChoice::spray));
    bed.send(0, 127, 16'000'000);
    bed.run();
    EXPECT_TRUE(bed.all_done());
    const double packets = std::ceil(16e6 / 4096);
    const std::vector<std::uint64_t> links = up_links(bed);
    ASSERT_EQ(links.size(), 4U);
    for (const std::uint64_t one : links) {
        EXPECT_NEAR(static_cast<double>(one), packets / 4, 1);
    }
    EXPECT_EQ(bed.engine.results()[0].retransmissions, 0U);
}

// Every host sends 100,000 bytes to each other one: 127 x 25 packets of 83.2 ns leave a NIC in 264.2 us at the least.
// The receiver takes packets in any order, so nothing is sent twice.
TEST(Spraying, AllToAllOf128) {
    PacketSpec spec = on_paths(PathChoice::spray);
    spec.transport.pad_last = Switch::on;
    PacketBed bed(fat_tree_with_ecmp(8), spec);
    for (const TrafficPair& pair : all_to_all(128, 128)) bed.send(pair.source, pair.destination, 100'000);
    bed.run();
    double end = 0;
    std::uint64_t again = 0;
    for (std::uint32_t i = 0; i < bed.engine.results().size(); ++i) {
        end = std::max(end, bed.microseconds_of(i));
        again += bed.engine.results()[i].retransmissions;
    }
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(again, 0U);
    EXPECT_EQ(bed.total().drops, 0U);
    EXPECT_EQ(bed.total().data, 2'323'200U);
    EXPECT_GT(end, 264.2);
    EXPECT_LT(end, 283);
}

// A connection without pauses keeps its path; pauses longer than the gap let it take others.
TEST(Flowlets, ChangePathAfterPauses) {
    PacketSpec spec = on_paths(PathChoice::flowlet);
    spec.transport.flowlet_gap = microseconds(10);
    spec.transport.recovery = LossRecovery::go_back_n;
    PacketBed steady(fat_tree_with_ecmp(8), spec);
    steady.send(0, 127, 16'000'000);
    steady.run();
    EXPECT_EQ(used(up_links(steady)), 1U);
    EXPECT_EQ(steady.engine.results()[0].retransmissions, 0U);

    spec.transport.window_packets = 1;  // a round trip between two packets: 6.5 us, shorter than the gap
    PacketBed short_pauses(fat_tree_with_ecmp(8), spec);
    short_pauses.send(0, 127, 400'000);
    short_pauses.run();
    EXPECT_EQ(used(up_links(short_pauses)), 1U);

    spec.transport.flowlet_gap = microseconds(5);
    PacketBed long_pauses(fat_tree_with_ecmp(8), spec);
    long_pauses.send(0, 127, 400'000);
    long_pauses.run();
    EXPECT_EQ(used(up_links(long_pauses)), 4U);
    EXPECT_EQ(long_pauses.engine.results()[0].retransmissions, 0U);
}

// 10 MB over 16 queue pairs: all bytes arrive, and all four up-links carry some.
TEST(QueuePairs, SplitAMessage) {
    PacketBed bed(fat_tree_with_ecmp(8));
    const ConnectionRequest request = {
        .source = GpuId{0}, .destination = GpuId{127}, .message = Bytes{10'000'003}, .start = {}};
    std::int64_t bytes = 0;
    for (const ConnectionRequest& part : split_message(request, 16)) {
        bytes += part.message.value;
        bed.engine.connect(part);
    }
    EXPECT_EQ(bytes, 10'000'003);
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.engine.results().size(), 16U);
    EXPECT_EQ(used(up_links(bed)), 4U);
}

TEST(QueuePairs, NoEmptyParts) {
    const ConnectionRequest request = {
        .source = GpuId{0}, .destination = GpuId{1}, .message = Bytes{3}, .start = {}};
    EXPECT_EQ(split_message(request, 8).size(), 3U);
    ConnectionRequest nothing = request;
    nothing.message = Bytes{0};
    EXPECT_EQ(split_message(nothing, 8).size(), 1U);
}

}  // namespace
}  // namespace rehearse

// Link-level retry beside the transport's go-back-N, against closed forms: 400 Gbps, a packet of 4,096 + 64 bytes takes
// 83.2 ns, an ACK 1.28 ns.
#include <gtest/gtest.h>

#include "sim/base/fault.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::PacketBed;

constexpr double packet_us = 0.0832, ack_us = 0.00128;

ClusterSpec tree_with(SimDuration link_latency) {
    ClusterSpec spec = fat_tree(4);
    spec.fabric.link_latency = link_latency;
    return spec;
}

// Two links out and back; one packet, sent after 20 us, is lost on the first.
struct OneLoss {
    explicit OneLoss(SimDuration latency, PacketSpec spec) : bed(tree_with(latency), spec) {
        one = bed.send(0, 1, 2000 * 4096);
        bed.lose(bed.uplink_of(0), SimTime{20'000'000}, SimTime{20'083'200});
        bed.run();
    }
    PacketBed bed;
    std::uint32_t one = 0;
};

// Loop 10 us = 4 latencies, two packets out and two ACKs back. What was sent behind the lost packet until the NACK came
// is sent twice: rate x loop = 500 KB.
TEST(OneLossGoBackN, WastesALoop) {
    PacketSpec spec;
    OneLoss run(picoseconds((10'000'000 - 2 * 83'200 - 2 * 1'280) / 4), spec);
    EXPECT_TRUE(run.bed.all_done());
    EXPECT_EQ(run.bed.total().losses, 1U);
    const double again = run.bed.engine.results()[run.one].retransmissions - 1;  // less the lost one
    EXPECT_NEAR(again * 4160, 500'000, 4160);
    EXPECT_EQ(run.bed.engine.results()[run.one].timeouts, 0U);
}

// Loop 1.2 us = 2 latencies, one packet and the turn-round. The transport sees nothing.
TEST(OneLossRetry, WastesALinkLoop) {
    PacketSpec spec;
    spec.llr.enabled = Switch::on;
    spec.llr.response = nanoseconds(100);
    OneLoss run(picoseconds((1'200'000 - 83'200 - 100'000) / 2), spec);
    EXPECT_TRUE(run.bed.all_done());
    EXPECT_EQ(run.bed.total().losses, 1U);
    EXPECT_EQ(run.bed.engine.results()[run.one].retransmissions, 0U);
    const double again = static_cast<double>(run.bed.total().replays) - 1;
    EXPECT_LE(again * 4160, 1.2e-6 * 50e9 + 2048 + 4160);
    EXPECT_GE(again * 4160, 1.2e-6 * 50e9 - 4160);
}

// A lost last packet: nothing behind it tells. Go-back-N waits for the whole timeout, LLR needs one link loop.
TEST(TailLoss, StallsTheTimeoutWithoutRetry) {
    for (const Switch llr : {Switch::off, Switch::on}) {
        PacketSpec spec;
        spec.transport.timeout_exponent = 10;  // 4,194.3 us
        spec.llr.enabled = llr;
        PacketBed bed(fat_tree(4), spec);
        const std::uint32_t one = bed.send(0, 1, 4096);
        bed.lose(bed.uplink_of(0), SimTime{0}, SimTime{1});
        bed.run();
        const double path = 2 * (0.5 + packet_us) + 2 * (0.5 + ack_us);
        const double stall = is_on(llr) ? 2 * 0.5 + packet_us + 0.00016 + 0.5 : 4.096 * 1024;
        EXPECT_TRUE(bed.all_done());
        EXPECT_NEAR(bed.microseconds_of(one), path + stall, 0.001);
    }
}

// ACKs without events end every flow at the same picosecond as ACKs that are frames: in a crowded fabric, both ways.
TEST(Retry, AckBytesWithoutEvents) {
    const auto finish = [](Bytes replay_buffer, std::uint64_t& bytes, std::uint64_t& events) {
        PacketSpec spec;
        spec.llr.enabled = Switch::on;
        spec.llr.replay_buffer = replay_buffer;
        PacketBed bed(fat_tree_with_ecmp(4), spec);
        for (std::uint32_t i = 0; i < 16; ++i) {
            bed.send(i, (i + 5) % 16, 300'000 + i * 1000, SimTime{i * 7'001});
            bed.send(i, (i + 6) % 16, 200'000, SimTime{i * 3'001});
        }
        bed.run();
        EXPECT_TRUE(bed.all_done());
        bytes = bed.total().bytes;
        events = bed.engine.events();
        std::vector<std::int64_t> ends;
        for (const ConnectionResult& result : bed.engine.results()) ends.push_back(result.finished.value);
        return ends;
    };
    std::uint64_t bytes = 0, bytes_of_frames = 0, events = 0, events_of_frames = 0;
    EXPECT_EQ(finish(Bytes{0}, bytes, events), finish(Bytes{10'000'000}, bytes_of_frames, events_of_frames));
    EXPECT_EQ(bytes, bytes_of_frames);
    EXPECT_LT(events, events_of_frames);
}

// A replay buffer of a third of the loop lets a third of the rate through: a frame stays from its first bit to its ACK.
TEST(Retry, ASmallReplayBufferLimitsTheRate) {
    PacketSpec spec;
    spec.llr.enabled = Switch::on;
    spec.llr.replay_buffer = Bytes{5 * 4160};
    PacketBed bed(fat_tree(4), spec);
    const std::uint32_t one = bed.send(0, 1, 1000 * 4096);
    bed.run();
    EXPECT_NEAR(bed.microseconds_of(one), 1000 / 5 * (2 * 0.5 + packet_us), 4);
}

// Every frame lost: the first is tried 1 + 3 times, then given up, and the queue pair fails after its tries.
TEST(Retry, ADeadLinkEndsAsAnError) {
    for (const LlrFlush flush : {LlrFlush::discard, LlrFlush::best_effort}) {
        PacketSpec spec;
        spec.llr.enabled = Switch::on;
        spec.llr.flush = flush;
        spec.loss.data = Ratio{1.0};
        spec.transport.timeout_exponent = 6;
        PacketBed bed(fat_tree(4), spec);
        const std::uint32_t one = bed.send(0, 1, 100 * 4096);
        bed.run();
        EXPECT_EQ(bed.engine.results()[one].state, ConnectionState::failed);
        EXPECT_EQ(bed.engine.results()[one].timeouts, 8U);
        EXPECT_GT(bed.total().given_up, 0U);
        EXPECT_EQ(bed.total().losses, bed.total().data);
    }
}

// At losses that exhaust the replays now and then, whatever is given up is left to the transport: all flows end.
TEST(Retry, GivenUpFramesAreLeftToTheTransport) {
    for (const FlowControl control : {FlowControl::pfc, FlowControl::cbfc}) {
        for (const LlrFlush flush : {LlrFlush::discard, LlrFlush::best_effort}) {
            PacketSpec spec;
            spec.llr.enabled = Switch::on;
            spec.llr.flush = flush;
            spec.llr.replays_max = 1;
            spec.loss.data = spec.loss.control = Ratio{0.2};
            spec.transport.timeout_exponent = 5;
            spec.transport.retries = 100;
            NetworkSpec network = PacketBed::plain_network();
            network.flow_control = control;
            PacketBed bed(fat_tree(4), spec, network);
            for (const std::int64_t bytes : {1, 4097, 400'000}) bed.send(0, 15, bytes);
            bed.send(15, 0, 400'000);
            bed.run();
            EXPECT_TRUE(bed.all_done());
            EXPECT_GT(bed.total().given_up, 0U);
            EXPECT_EQ(bed.total().drops, 0U);
        }
    }
}

TEST(Retry, BadInput) {
    PacketSpec spec;
    spec.llr.enabled = Switch::on;
    spec.llr.replay_buffer = Bytes{4160};
    EXPECT_THROW(PacketBed(fat_tree(4), spec), InputError);
    spec.llr = {.enabled = Switch::on, .replays_max = 256};
    EXPECT_THROW(PacketBed(fat_tree(4), spec), InputError);
}

}  // namespace
}  // namespace rehearse

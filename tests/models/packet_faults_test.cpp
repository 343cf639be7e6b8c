// Links and switches that fail, and how long a flow waits until somebody notices. A fat tree of 4 ports a switch: GPUs
// 0 and 15 have four paths, by two aggregation switches and four cores.
#include <gtest/gtest.h>

#include "models/network/packet/link_names.hpp"
#include "sim/base/fault.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::PacketBed;

// The link by which packets of GPU 0 to GPU 15 leave their ToR.
LinkId first_fabric_link(const PacketBed& bed) {
    const PacketRoute route = bed.graph.route({GpuId{0}, GpuId{15}});
    const std::uint32_t tor = bed.graph.port(bed.graph.port(bed.nic_port(0)).peer).node;
    return bed.graph.port(bed.graph.first_port(tor) + route.ports[0]).link;
}

// 2,000 packets from 0 to 15; the path dies after 20 us, for ever.
struct Cut {
    explicit Cut(DetectionMode mode, PacketSpec spec = {}) : bed(fat_tree_with_ecmp(4), with(mode, spec)) {
        one = bed.send(0, 15, 2000 * 4096);
        bed.engine.add_fault({.link = first_fabric_link(bed), .begin = SimTime{20'000'000}});
        bed.run();
    }
    static PacketSpec with(DetectionMode mode, PacketSpec spec) {
        spec.detection.mode = mode;
        return spec;
    }
    const ConnectionResult& result() const { return bed.engine.results()[one]; }
    double stall() const {  // beyond the time of an undisturbed flow
        return bed.microseconds_of(one) - (2000 * 0.0832 + 5 * 0.0832 + 6 * (0.5 + 0.5 + 0.00128));
    }
    PacketBed bed;
    std::uint32_t one = 0;
};

PacketSpec timeout(std::int64_t exponent) {
    PacketSpec spec;
    spec.transport.timeout_exponent = exponent;
    return spec;
}

// Nobody takes the dead link out: 8 timeouts from the first packet lost, then the queue pair is an error.
TEST(Detection, AppTimeoutFails) {
    const Cut cut(DetectionMode::app_timeout, timeout(8));
    EXPECT_EQ(cut.result().state, ConnectionState::failed);
    EXPECT_EQ(cut.result().timeouts, 8U);
    EXPECT_NEAR((cut.result().finished - SimTime{20'000'000}).seconds() * 1e6, 8 * 4.096 * 256, 10);
}

// The ASIC needs 10 us; the packets behind the gap reveal it after one loop.
TEST(Detection, AsicLocalCostsItsDelayAndALoop) {
    const Cut cut(DetectionMode::asic_local, timeout(18));
    EXPECT_EQ(cut.result().state, ConnectionState::done);
    EXPECT_EQ(cut.result().timeouts, 0U);
    EXPECT_NEAR(cut.stall(), 10 + 6 * 1.1, 1.5);
}

// The whole message is lost until the software has reacted, so the timeout of the transport rules: 4.096 us x 2^13 =
// 33.6 ms instead of 20 ms; a shorter one tries three times.
TEST(Detection, SoftwareWaitsForTheTimeout) {
    const Cut cut(DetectionMode::link_down_software, timeout(13));
    EXPECT_EQ(cut.result().timeouts, 1U);
    EXPECT_NEAR(cut.stall(), 4.096 * 8192, 20);
    const Cut shorter(DetectionMode::link_down_software, timeout(11));
    EXPECT_EQ(shorter.result().timeouts, 3U);
    EXPECT_NEAR(shorter.stall(), 3 * 4.096 * 2048, 20);
}

TEST(Detection, BfdTakesThreeHundredTwentyMilliseconds) {
    const Cut cut(DetectionMode::bfd_software, timeout(14));
    EXPECT_EQ(cut.result().timeouts, 5U);  // 67.1 ms each: the fifth comes after 320 ms
    EXPECT_NEAR(cut.stall(), 5 * 4.096 * 16384, 20);
}

// The host hears after 3 ms and begins again without a timeout.
TEST(Detection, SwitchEventNeedsNoTimeout) {
    const Cut cut(DetectionMode::switch_event, timeout(18));
    EXPECT_EQ(cut.result().state, ConnectionState::done);
    EXPECT_EQ(cut.result().timeouts, 0U);
    EXPECT_NEAR(cut.stall(), 3000, 10);
}

// Adaptive retransmission doubles from 1 ms: tries after 1, 3, 7, 15, 31 ms, the last one after the 20 ms.
TEST(Detection, AdaptiveRetransmissionTriesSooner) {
    PacketSpec spec = timeout(18);
    spec.transport.adaptive_retransmission = Switch::on;
    spec.transport.adaptive_base = milliseconds(1);
    const Cut cut(DetectionMode::link_down_software, spec);
    EXPECT_EQ(cut.result().timeouts, 5U);
    EXPECT_NEAR(cut.stall(), 31'000, 20);
}

TEST(Detection, TimesAreInputs) {
    PacketSpec spec = timeout(18);
    spec.detection.detect = microseconds(300);
    spec.detection.react = microseconds(200);
    EXPECT_NEAR(Cut(DetectionMode::switch_event, spec).stall(), 500, 10);
    EXPECT_EQ(detection_delay({DetectionMode::bfd_software}), milliseconds(320));
    EXPECT_EQ(name(DetectionMode::asic_local), "asic_local");
}

// Spraying avoids the dead link too: once it is known, nothing more is lost.
TEST(Detection, SprayedPacketsAvoidTheDeadLink) {
    PacketSpec spec;
    spec.transport.paths = PathChoice::spray;
    spec.transport.recovery = LossRecovery::selective_repeat;
    spec.detection.mode = DetectionMode::asic_local;
    PacketBed bed(fat_tree_with_ecmp(4), spec);
    bed.engine.add_fault({.link = first_fabric_link(bed)});
    bed.send(0, 15, 400'000, SimTime{20'000'000});
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.total().losses, 0U);
}

// A flap shorter than all tries of the transport is survived, a longer one is an error, with every flow control.
TEST(LinkFaults, FlapAgainstTheTimeouts) {
    for (const FlowControl control : {FlowControl::pfc, FlowControl::cbfc}) {
        for (const Switch llr : {Switch::off, Switch::on}) {
            for (const std::int64_t exponent : {6, 10}) {  // 8 x 262 us = 2.1 ms; 8 x 4.19 ms
                PacketSpec spec = timeout(exponent);
                spec.llr.enabled = llr;
                NetworkSpec network = PacketBed::plain_network();
                network.flow_control = control;
                PacketBed bed(fat_tree(4), spec, network);
                const std::uint32_t hit = bed.send(0, 1, 4'000'000), other = bed.send(2, 1, 4'000'000);
                bed.engine.add_fault({.link = bed.uplink_of(0), .begin = SimTime{20'000'000},
                                      .end = SimTime{5'020'000'000}});
                bed.run();
                const bool survives = exponent == 10;
                EXPECT_EQ(bed.engine.results()[hit].state, survives ? ConnectionState::done : ConnectionState::failed);
                EXPECT_EQ(bed.engine.results()[other].state, ConnectionState::done);
                EXPECT_GT(bed.total().losses, 0U);
                EXPECT_EQ(bed.total().drops, 0U);
            }
        }
    }
}

// After a flap credits and sequence numbers agree again: the flow goes on at line rate.
TEST(LinkFaults, LineRateAfterAFlap) {
    PacketSpec spec = timeout(6);
    spec.llr.enabled = Switch::on;
    NetworkSpec network = PacketBed::plain_network();
    network.flow_control = FlowControl::cbfc;
    PacketBed bed(fat_tree(4), spec, network);
    const std::uint32_t one = bed.send(0, 1, 1000 * 4096, SimTime{600'000'000});
    bed.send(0, 1, 100 * 4096);  // in flight when the link goes down, 300 us later again
    bed.engine.add_fault({.link = bed.uplink_of(0), .begin = SimTime{4'000'000}, .end = SimTime{100'000'000}});
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_NEAR(bed.microseconds_of(one), 1001 * 0.0832 + 4 * 0.5, 0.1 + 1000 * 4160.0 / 2048 * 0.00016);
}

TEST(LinkFaults, SlowLink) {
    PacketBed bed(fat_tree(4));
    const std::uint32_t one = bed.send(0, 1, 1000 * 4096);
    bed.engine.add_fault({.kind = LinkFaultKind::slow, .link = bed.uplink_of(0), .factor = Ratio{0.25}});
    bed.run();
    EXPECT_NEAR(bed.microseconds_of(one), 1000 * 4 * 0.0832 + 0.0832 + 4 * 0.5, 0.02);
}

// What is on the link when it goes down is lost, though it comes up before it would have arrived.
TEST(LinkFaults, FlightIsLost) {
    PacketBed bed(fat_tree(4), timeout(4));
    bed.send(0, 1, 4096);
    bed.engine.add_fault({.link = bed.uplink_of(0), .begin = SimTime{200'000}, .end = SimTime{300'000}});
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.total().losses, 1U);
}

// One of two aggregation switches of a pod dies; its flows take the other one.
TEST(LinkFaults, DeadSwitch) {
    PacketSpec spec = timeout(6);
    spec.detection.mode = DetectionMode::asic_local;
    PacketBed bed(fat_tree_with_ecmp(4), spec);
    const std::uint32_t dead = bed.graph.port(bed.graph.port_of(first_fabric_link(bed))).peer;
    const std::uint32_t node = bed.graph.port(dead).node;
    for (std::uint32_t i = 0; i < 16; ++i) bed.send(i, (i + 5) % 16, 1'000'000);
    bed.engine.add_fault({.kind = LinkFaultKind::dead_switch, .vertex = bed.graph.vertex_of(node),
                          .begin = SimTime{10'000'000}});
    bed.engine.run(SimTime{500'000'000});
    std::uint64_t before = 0;
    for (std::uint32_t i = 0; i < 4; ++i) before += bed.engine.counters()[bed.graph.first_port(node) + i].data;
    for (std::uint32_t i = 0; i < 16; ++i) bed.send(i, (i + 5) % 16, 100'000, SimTime{600'000'000});
    bed.run();
    std::uint64_t after = 0;
    for (std::uint32_t i = 0; i < 4; ++i) after += bed.engine.counters()[bed.graph.first_port(node) + i].data;
    EXPECT_TRUE(bed.all_done());
    EXPECT_GT(before, 0U);
    EXPECT_EQ(after, before);
}

// Loss on the named link only, and only that way.
TEST(LinkFaults, NamedLink) {
    PacketBed bed(fat_tree(4), timeout(4));
    const auto name = [&](VertexId vertex) { return bed.cluster.vertex_name(vertex); };
    const Link& link = bed.cluster.link(bed.uplink_of(0));
    const LinkId up = link_named(bed.cluster, name(link.from), name(link.to));
    EXPECT_EQ(up, bed.uplink_of(0));
    EXPECT_EQ(link_named(bed.cluster, name(link.to), name(link.from)), bed.downlink_of(0));
    bed.engine.add_fault({.kind = LinkFaultKind::lossy, .link = up, .data_loss = Ratio{0.01}});
    bed.send(0, 1, 2'000'000);
    bed.send(1, 0, 2'000'000);
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_GT(bed.total().losses, 0U);
    EXPECT_EQ(bed.engine.counters()[bed.nic_port(0)].losses, bed.total().losses);
    EXPECT_EQ(bed.engine.results()[1].retransmissions, 0U);
    EXPECT_THROW(vertex_named(bed.cluster, "tor99"), InputError);
    EXPECT_THROW(link_named(bed.cluster, name(link.from), name(link.from)), InputError);
    EXPECT_THROW(link_named(bed.cluster, name(link.from), name(link.to), 1), InputError);
}

}  // namespace
}  // namespace rehearse

// From named faults to those of the engine, and what they do to links whose two ways are unlike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/network/packet/fault_plan.hpp"
#include "models/network/packet/link_names.hpp"
#include "sim/base/fault.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using ::testing::HasSubstr;
using testing::fat_tree;
using testing::PacketBed;

FabricFault cable(FabricFaultKind kind, const char* from, const char* to) {
    FabricFault fault;
    fault.kind = kind;
    fault.from = from;
    fault.to = to;
    return fault;
}

// A flap is one fault per time down: begin + i x period, for down_for.
TEST(FaultPlan, AFlapIsUnrolled) {
    const PacketBed bed(fat_tree(4));
    PacketSpec spec;
    FabricFault flap = cable(FabricFaultKind::flap, "node0.gpu0", "pod0.set0.tor0");
    flap.begin = milliseconds(1);
    flap.down_for = milliseconds(2);
    flap.period = milliseconds(10);
    flap.times = 3;
    spec.faults = {flap};
    const FaultPlan plan = plan_faults(bed.cluster, bed.network, spec);
    ASSERT_EQ(plan.links.size(), 3U);
    for (std::int64_t i = 0; i < 3; ++i) {
        const PlannedFault& planned = plan.links[static_cast<std::size_t>(i)];
        EXPECT_EQ(planned.fault.kind, LinkFaultKind::down);
        EXPECT_EQ(planned.fault.begin - SimTime{}, milliseconds(1) + milliseconds(10) * i);
        EXPECT_EQ(planned.fault.end - planned.fault.begin, milliseconds(2));
        EXPECT_EQ(planned.back, link_named(bed.cluster, "pod0.set0.tor0", "node0.gpu0"));
    }
}

// 1 - (1 - ratio)(1 - frame loss), each frame with its own length.
TEST(FaultPlan, BitErrorsComeOnTopOfTheRatios) {
    const LossSpec loss{Ratio{0.01}, Ratio{0.0}, 1, Ratio{1e-3}, FecCode::rs_272_258};
    const LossSpec all = with_bit_errors(loss, Bytes{4178}, Bytes{84});
    const double of_data = frame_loss(low_latency, 1e-3, Bytes{4178}).value;
    EXPECT_NEAR(all.data.value, 1 - 0.99 * (1 - of_data), 1e-12);
    EXPECT_DOUBLE_EQ(all.control.value, frame_loss(low_latency, 1e-3, Bytes{84}).value);
    EXPECT_GT(all.data.value, 0.012);
    EXPECT_GT(all.control.value, 0);
    EXPECT_LT(all.control.value, of_data);
}

TEST(FaultPlan, EveryFaultOfTheListIsNamedAtItsKey) {
    const PacketBed bed(fat_tree(4));
    PacketSpec spec;
    FabricFault storm, dead;
    storm.kind = FabricFaultKind::pause_storm;
    storm.gpu = 16;
    storm.end = milliseconds(1);
    dead.kind = FabricFaultKind::dead_switch;
    dead.switch_name = "node0.gpu0";
    spec.faults = {cable(FabricFaultKind::down, "node0.gpu0", "pod0.set0.tr0"), storm, dead,
                   cable(FabricFaultKind::down, "node0.gpu0", "pod0.agg0")};
    try {
        plan_faults(bed.cluster, bed.network, spec);
        FAIL() << "it was taken";
    } catch (const InputError& error) {
        const std::string text = error.what();
        for (const char* part : {"faults[0].to: no vertex is called", "did you mean \"pod0.set0.tor0\"?",
                                 "faults[1].gpu: there is no GPU 16", "faults[2].switch: \"node0.gpu0\" is no switch",
                                 "faults[3].to: no link leads from"})
            EXPECT_THAT(text, HasSubstr(part));
    }
}

ClusterSpec with_switch_latency(std::int64_t nanos) {
    ClusterSpec cluster = fat_tree(4);
    cluster.fabric.switch_latency = nanoseconds(nanos);
    return cluster;
}

NetworkSpec by_credit() {
    NetworkSpec network = PacketBed::plain_network();
    network.flow_control = FlowControl::cbfc;
    return network;
}

// The way into a switch takes 2 us longer than the way out: credits are out for the sum of both, and one flow
// still has the link to itself.
TEST(CreditsOfUnlikeWays, ReachLineRate) {
    PacketSpec spec;
    PacketBed bed(with_switch_latency(2000), spec, by_credit());
    const std::uint32_t one = bed.send(0, 2, 4000 * 4096);
    bed.run();
    ASSERT_TRUE(bed.all_done());
    EXPECT_LT(bed.microseconds_of(one), 4000 * 0.0832 * 1.01 + 30);
}

// A replay waits for its port; the ACK of all that it would bring comes first. Nothing is left to replay: a sender that
// went on would send garbage for ever.
TEST(RetrySendState, AnAckBeforeTheReplayEndsIt) {
    RetrySend send;
    for (int frame = 0; frame < 3; ++frame) send.frames.push(Packet{});
    send.replay = 0;
    send.pop();
    send.pop();
    EXPECT_TRUE(send.is_replaying());
    send.pop();
    EXPECT_FALSE(send.is_replaying());
}

}  // namespace
}  // namespace rehearse

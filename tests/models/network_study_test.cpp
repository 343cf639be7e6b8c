// Patterns as flows, idle times against closed forms, both fidelities against each other, traces as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/network/sprayed_links.hpp"
#include "models/network/study/figures.hpp"
#include "models/network/study/idle_time.hpp"
#include "models/network/study/trace_file.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PatternSpec spec_of(Pattern pattern, std::int64_t members, Bytes message) {
    PatternSpec spec;
    spec.pattern = pattern;
    spec.members = members;
    spec.message = message;
    return spec;
}

StudyRecord run_pattern(const PatternSpec& pattern, Fidelity fidelity, const ClusterSpec& fabric,
                        const PacketSpec& packets = {}) {
    const Cluster cluster = build_cluster(fabric);
    NetworkSpec network = testing::PacketBed::plain_network();
    network.fidelity = fidelity;
    const Router router(cluster, network.ecmp, 1);
    const std::vector<StudyFlow> flows = flows_of({&pattern, 1});
    const Switch pad = packets.transport.pad_last;
    const std::vector<SimDuration> idle = IdleTimes(cluster, router, network, pad).completions(flows);
    if (fidelity != Fidelity::packet) return run_fluid(cluster, router, network, packets.transport.paths, flows, idle);
    const FabricGraph graph(cluster, router);
    return PacketStudy(graph, network, packets, 1).run(flows, idle, {});
}

// Members 3, 5, 7, ...; a ring of four in groups of two is two rings of two.
TEST(Traffic, MembersAndGroupsAreWhereTheyShouldBe) {
    PatternSpec spec = spec_of(Pattern::ring_all_reduce, 4, Bytes{1000});
    spec.first = 3;
    spec.stride = 2;
    spec.group = 2;
    const std::vector<StudyFlow> flows = flows_of({&spec, 1});
    ASSERT_EQ(flows.size(), 4U);
    EXPECT_EQ(flows[0].source, GpuId{3});
    EXPECT_EQ(flows[0].destination, GpuId{7});
    EXPECT_EQ(flows[2].source, GpuId{5});
    EXPECT_EQ(flows[2].destination, GpuId{9});
    EXPECT_EQ(flows[0].message, Bytes{500});
    EXPECT_EQ(flows[0].messages, 2);
    EXPECT_THAT(flows[0].grants, ElementsAre(1));
    EXPECT_THAT(flows[1].grants, ElementsAre(0));
    EXPECT_NE(flows[0].ring, flows[2].ring);
}

// Members 0 .. 4: 1 and 2 under 0, 3 and 4 under 1. Leaves go at once; 1 waits for 3 and 4, the way down for 1 and 2.
TEST(Traffic, ATreeWaitsForItsChildren) {
    PatternSpec spec = spec_of(Pattern::tree_all_reduce, 5, Bytes{1600});
    const std::vector<StudyFlow> flows = flows_of({&spec, 1});
    ASSERT_EQ(flows.size(), 8U);  // up 1 2 3 4, down 1 2 3 4
    EXPECT_EQ(flows[0].granted, 0);
    EXPECT_GT(flows[1].granted, 16);
    EXPECT_EQ(flows[2].sibling, 3U);
    EXPECT_THAT(flows[2].grants, ElementsAre(0));
    EXPECT_THAT(flows[0].grants, ElementsAre(4, 5));
    EXPECT_EQ(flows[0].sibling, 1U);
    EXPECT_THAT(flows[4].grants, ElementsAre(6, 7));
    EXPECT_EQ(flows[5].grants.size(), 0U);
    EXPECT_EQ(flows[4].granted, 0);
}

// Every byte of a tree arrives, once, though chunks of siblings come in different order.
TEST(PacketStudy, CollectivesMoveTheirBytes) {
    for (const Pattern pattern : {Pattern::ring_all_reduce, Pattern::tree_all_reduce}) {
        const StudyRecord record =
            run_pattern(spec_of(pattern, 13, Bytes{260'000}), Fidelity::packet, testing::fat_tree_with_ecmp(4));
        for (const FlowRecord& flow : record.flows) EXPECT_EQ(flow.end, FlowEnd::whole);
    }
}

// Eight members under two ToRs: a flow ends when its last message has come around over 2 (n - 1) = 14 hops of 2 or 4
// links, and the ACK is back.
TEST(PacketStudy, ARingTakesItsClosedForm) {
    const StudyRecord record = run_pattern(spec_of(Pattern::ring_all_reduce, 8, Bytes{8 * 40'960}), Fidelity::packet,
                                           testing::fat_tree_with_ecmp(8));
    // ACKs of the message behind leave through the same port as data: 64 bytes for each 4,160, so 1.6 % at most.
    for (const FlowRecord& flow : record.flows) {
        EXPECT_GE(flow.finished - flow.start, flow.idle);
        EXPECT_LE((flow.finished - flow.start).seconds(), 1.016 * flow.idle.seconds());
    }
}

// Uncongested flows: packet and fluid agree within 2 %. Permutations with collisions of 24 packets and more: the mean.
TEST(Study, FidelitiesAgreeOnIdlePaths) {
    PatternSpec one = spec_of(Pattern::incast, 128, Bytes{1'000'000});
    one.senders = 1;
    for (const std::int64_t stride : {1, 9, 100}) {
        one.stride = stride;
        for (const std::int64_t size : {1, 4096, 5000, 1'000'000}) {
            one.message = Bytes{size};
            const ClusterSpec fabric = testing::fat_tree_with_ecmp(8);
            const FlowRecord packet = run_pattern(one, Fidelity::packet, fabric).flows.front();
            const FlowRecord fluid = run_pattern(one, Fidelity::flow, fabric).flows.front();
            const FlowRecord ideal = run_pattern(one, Fidelity::ideal, fabric).flows.front();
            const auto time = static_cast<double>(packet.finished.value);
            EXPECT_NEAR(static_cast<double>(fluid.finished.value) / time, 1, 0.0001) << stride << " " << size;
            EXPECT_NEAR(static_cast<double>(ideal.finished.value) / time, 1, 0.0001);
            EXPECT_NEAR(static_cast<double>(packet.idle.value) / time, 1, 0.0001);
        }
    }
}

double longest_us(const StudyRecord& record) {
    SimDuration longest;
    for (const FlowRecord& flow : record.flows) longest = std::max(longest, flow.finished - flow.start);
    return longest.seconds() * 1e6;
}

// The root sends only what its children have sent it: from latency-bound to bandwidth-bound.
TEST(Study, TreesOfAllFidelitiesAgree) {
    for (const std::int64_t size : {1'000, 100'000, 4'000'000}) {
        const PatternSpec pattern = spec_of(Pattern::tree_all_reduce, 16, Bytes{size});
        const ClusterSpec fabric = testing::fat_tree_with_ecmp(8);
        const double packet = longest_us(run_pattern(pattern, Fidelity::packet, fabric));
        EXPECT_NEAR(longest_us(run_pattern(pattern, Fidelity::flow, fabric)) / packet, 1, 0.1) << size;
    }
}

// 0 -> 1 -> 2, two messages: the second hop sends each when it has arrived, and the messages move without a gap.
TEST(Study, AGrantedMessageStartsWhenItMay) {
    const Cluster cluster = build_cluster(testing::fat_tree_with_ecmp(8));
    const Router router(cluster, {}, 1);
    NetworkSpec network = testing::PacketBed::plain_network();
    std::vector<StudyFlow> flows(2);
    for (std::uint32_t i = 0; i < 2; ++i) {
        flows[i].source = GpuId{i};
        flows[i].destination = GpuId{i + 1};
        flows[i].message = Bytes{40'960};
        flows[i].messages = 2;
    }
    flows[0].grants = {1};
    flows[1].granted = 0;
    const IdleTimes times(cluster, router, network, Switch::off);
    const IdlePath first = times.path(flows[0]), second = times.path(flows[1]);
    const SimDuration ahead = times.one_way(first, flows[0].message);
    const SimDuration behind = times.one_way(second, flows[1].message, 2) + second.ack_return;
    for (const Fidelity fidelity : {Fidelity::flow, Fidelity::ideal}) {
        network.fidelity = fidelity;
        const StudyRecord record =
            run_fluid(cluster, router, network, PathChoice::ecmp, flows, times.completions(flows));
        EXPECT_EQ(record.flows[0].finished - record.flows[0].start, record.flows[0].idle);
        EXPECT_EQ(record.flows[1].finished - record.flows[1].start, ahead + behind);
    }
}

// Hops of 2 and 4 links, and of 6 between pods: a chunk pays for those that it crosses, not for the longest.
TEST(Study, AnIdleRingIsNotSlowedDownAtAnyFidelity) {
    for (const std::int64_t size : {1'000, 400'000, 4'000'000}) {
        const PatternSpec pattern = spec_of(Pattern::ring_all_reduce, 32, Bytes{size});
        for (const Fidelity fidelity : {Fidelity::ideal, Fidelity::flow, Fidelity::packet}) {
            const StudyRecord record = run_pattern(pattern, fidelity, testing::fat_tree_with_ecmp(8));
            for (const FlowRecord& flow : record.flows)
                EXPECT_NEAR((flow.finished - flow.start).seconds() / flow.idle.seconds(), 1, 0.03) << size;
        }
    }
}

// NVLink hops between nodes do not let a ring get ahead of its NICs.
TEST(Study, ARingRunsAtItsSlowestHop) {
    const PatternSpec pattern = spec_of(Pattern::ring_all_reduce, 16, Bytes{16'000'000});
    for (const FlowRecord& flow : run_pattern(pattern, Fidelity::flow, testing::clos(2)).flows)
        EXPECT_NEAR((flow.finished - flow.start).seconds() / flow.idle.seconds(), 1, 0.01);
}

TEST(Study, PermutationsOfBothFidelitiesAreClose) {
    PacketSpec endless;
    endless.buffer.bounded = Switch::off;
    const PatternSpec pattern = spec_of(Pattern::permutation, 128, Bytes{2'000'000});
    const auto mean = [&](Fidelity fidelity) {
        const StudyRecord record = run_pattern(pattern, fidelity, testing::fat_tree_with_ecmp(8), endless);
        return figures_of(record, build_cluster(testing::fat_tree_with_ecmp(8))).fct_us.mean;
    };
    EXPECT_NEAR(mean(Fidelity::packet) / mean(Fidelity::flow), 1, 0.1);
}

// k = 8, hosts of two pods: 1 host link, 4 + 16 up, 16 + 4 down, 1 host link; each level carries the whole flow once.
TEST(Study, SprayingLoadsAllShortestPathsEvenly) {
    const Cluster cluster = build_cluster(testing::fat_tree_with_ecmp(8));
    const Router router(cluster, {}, 1);
    const std::vector<WeightedLink> links = sprayed_links(router, GpuId{0}, GpuId{127});
    ASSERT_EQ(links.size(), 42U);
    double sum = 0, core = 0;
    for (const WeightedLink& use : links) {
        sum += use.weight;
        if (cluster.link(use.link).tier == LinkTier::core) core = std::max(core, use.weight);
    }
    EXPECT_DOUBLE_EQ(sum, 6);
    EXPECT_DOUBLE_EQ(core, 1.0 / 16);
}

TEST(Study, SpreadOfValues) {
    const Spread none = spread_of({});
    EXPECT_EQ(none.max, 0);
    std::vector<double> hundred;
    for (int i = 100; i >= 1; --i) hundred.push_back(i);
    const Spread spread = spread_of(hundred);
    EXPECT_EQ(spread.min, 1);
    EXPECT_EQ(spread.p50, 51);
    EXPECT_EQ(spread.p99, 100);
    EXPECT_DOUBLE_EQ(spread.mean, 50.5);
}

TEST(TraceFile, ReadsFlowsAndSaysWhatIsWrong) {
    FaultList faults;
    const auto flows = parse_trace("src,dst,bytes,start_ps\n0,1,1000,0\n\n# later\n2, 3 ,5,1000000\n", "t.csv", faults);
    EXPECT_TRUE(faults.empty());
    ASSERT_EQ(flows.size(), 2U);
    EXPECT_EQ(flows[1].source, 2U);
    EXPECT_EQ(flows[1].destination, 3U);
    EXPECT_EQ(flows[1].start, SimTime{1'000'000});
    EXPECT_EQ(parse_trace("0,1,1000,0\n", "t.csv", faults).size(), 1U);  // without a header
    EXPECT_TRUE(faults.empty());
    parse_trace("0,1,10\n0,1,-3,0\n0,1,2,3,4\n", "t.csv", faults);
    ASSERT_EQ(faults.size(), 3U);
    EXPECT_THAT(to_string(faults.faults()[0]), HasSubstr("t.csv:1:7: start: the line ends too early"));
    EXPECT_THAT(to_string(faults.faults()[1]), HasSubstr("t.csv:2:5: bytes: -3 is out of range"));
    EXPECT_THAT(to_string(faults.faults()[2]), HasSubstr("t.csv:3:9"));
    FaultList empty;
    parse_trace("# nothing\n", "t.csv", empty);
    EXPECT_EQ(empty.size(), 1U);
}

}  // namespace
}  // namespace rehearse

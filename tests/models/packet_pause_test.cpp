// Priority flow control: headroom, storms and their victims, the watchdog, and routes that could deadlock.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/network/packet/buffer_dependency.hpp"
#include "models/network/packet/headroom_sets.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::PacketBed;

struct HeadroomCase {
    std::int64_t mtu, latency_ns, shared, alpha_inverse;
    std::int64_t large, small;  // bytes of long and short messages, 0: none
    std::int64_t wire_min;      // smallest packet that the headroom is for
};

HeadroomCase draw_case(std::uint64_t seed) {
    const Stream stream(seed, "test.headroom");
    auto pick = [&, n = 0](std::initializer_list<std::int64_t> of) mutable {
        return of.begin()[static_cast<std::size_t>(stream.uniform(0, static_cast<std::uint64_t>(n++)) *
                                                   static_cast<double>(of.size()))];
    };
    HeadroomCase drawn{};
    drawn.mtu = pick({256, 1024, 4096});
    drawn.latency_ns = pick({50, 500, 2000});
    drawn.shared = pick({20'000, 200'000, 2'000'000});
    drawn.alpha_inverse = pick({1, 2, 8});
    drawn.large = pick({50'000'000, 50'000'000, 0});
    drawn.small = pick({1, 64, 300});
    drawn.wire_min = 65;
    return drawn;
}

// Two GPUs send to a third under one ToR, 2:1, long messages beside short ones; each ingress has the headroom of the
// formula less `cut`.
PortCounters overload(const HeadroomCase& drawn, std::int64_t cut) {
    ClusterSpec fabric = fat_tree(4);
    fabric.fabric.link_latency = nanoseconds(drawn.latency_ns);
    const std::int64_t quanta = pfc_response_quanta(gigabits_per_second(400));
    PacketSpec spec;
    spec.buffer.alpha = Ratio{1.0 / static_cast<double>(drawn.alpha_inverse)};
    const HeadroomInput input{gigabits_per_second(400), 2 * nanoseconds(drawn.latency_ns), Bytes{drawn.mtu + 64},
                              Bytes{drawn.wire_min}, spec.buffer.cell, quanta};
    spec.pfc.headroom = pfc_headroom(input) - Bytes{cut};
    spec.buffer.pool = Bytes{drawn.shared} + 4 * (spec.pfc.headroom + spec.buffer.reserve);
    NetworkSpec network = PacketBed::plain_network();
    network.mtu = Bytes{drawn.mtu};
    PacketBed bed(fabric, spec, network);
    for (const std::uint32_t from : {1, 2}) {
        if (drawn.large > 0) bed.send(from, 0, drawn.large);
        if (drawn.small == 0) continue;
        bed.engine.connect({.source = GpuId{from}, .destination = GpuId{0}, .message = Bytes{drawn.small},
                            .messages = 200'000, .start = SimTime{from * 1'000}, .queue_pair = 1});
    }
    bed.engine.run(SimTime{200'000'000});
    return bed.total();
}

TEST(Headroom, FormulaDropsNothing) {
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
        const HeadroomCase drawn = draw_case(seed);
        const PortCounters total = overload(drawn, 0);
        EXPECT_EQ(total.drops, 0U) << "seed " << seed << " mtu " << drawn.mtu << " latency " << drawn.latency_ns;
        EXPECT_GT(total.pauses, 0U) << "seed " << seed;
    }
}

// The peer sends 905 x 64 B after it has the pause frame: without room for them packets are dropped, and counted. Full
// packets in a headroom made for them, and the smallest in one for all sizes (a packet of 65 B takes a cell of 254).
TEST(Headroom, WithoutRoomForTheResponseItDrops) {
    for (const std::int64_t latency_ns : {50, 500, 2000}) {
        const HeadroomCase full{4096, latency_ns, 200'000, 8, 50'000'000, 0, 4160};
        const HeadroomCase least{4096, latency_ns, 200'000, 8, 0, 1, 65};
        for (const HeadroomCase& each : {full, least}) {
            EXPECT_GT(overload(each, 905 * 64).drops, 0U);
            EXPECT_EQ(overload(each, 0).drops, 0U);
        }
    }
    EXPECT_EQ(pfc_response_quanta(gigabits_per_second(400)) * 64, 57'920);
}

// By the table: 400G over 2.5 us (500 m) on Tomahawk 5, 800G over 100 ns (20 m: the 40 m row) on Tomahawk 6.
TEST(Headroom, SetsThatSwitchesShipWith) {
    const Bandwidth fast = gigabits_per_second(800), usual = gigabits_per_second(400);
    EXPECT_EQ(shipped_headroom(HeadroomSet::sonic_th5, usual, nanoseconds(2'500)), Bytes{1'136'396});
    EXPECT_EQ(shipped_headroom(HeadroomSet::sonic_th6, fast, nanoseconds(100)), Bytes{850'080});
    EXPECT_THROW(shipped_headroom(HeadroomSet::sonic_th5, usual, nanoseconds(2'501)), InputError);
    EXPECT_THROW(shipped_headroom(HeadroomSet::sonic_th5, gigabits_per_second(1600), nanoseconds(25)), InputError);
    const HeadroomInput input{usual, nanoseconds(300), Bytes{4'160}, Bytes{65}, Bytes{254}, 905};
    EXPECT_GT(shipped_headroom(HeadroomSet::sonic_th5, usual, nanoseconds(150)), pfc_headroom(input));
}

TEST(Headroom, BadInput) {
    PacketSpec large;
    large.pfc.headroom = Bytes{60'000'000};
    EXPECT_THROW(PacketBed(fat_tree(4), large), InputError);
    PacketSpec many;
    many.classes = 9;
    EXPECT_THROW(PacketBed(fat_tree(4), many), InputError);
}

// GPU 1 pauses its ToR for 50 ms. GPU 0 sends to it and, as a victim, to GPU 2, which it shares no link with but its
// own: once the ToR has paused GPU 0, both stand still.
struct Storm {
    explicit Storm(SimDuration watchdog) : bed(fat_tree(4), with(watchdog)) {
        into = bed.send(0, 1, 40'000'000);
        victim = bed.send(0, 2, 40'000'000);
        bed.engine.add_storm({.gpu = GpuId{1}, .begin = SimTime{10'000'000}, .end = SimTime{50'000'000'000}});
        bed.run();
    }
    static PacketSpec with(SimDuration watchdog) {
        PacketSpec spec;
        spec.buffer.pool = Bytes{2'000'000};
        spec.pfc.watchdog = watchdog;
        spec.pfc.watchdog_restore = milliseconds(10);
        spec.transport.timeout_exponent = 14;
        return spec;
    }
    PacketBed bed;
    std::uint32_t into = 0, victim = 0;
};

TEST(PauseStorm, VictimWaitsForItsEnd) {
    const Storm storm(SimDuration{0});
    EXPECT_TRUE(storm.bed.all_done());
    EXPECT_EQ(storm.bed.total().drops + storm.bed.total().discards, 0U);
    EXPECT_GT(storm.bed.microseconds_of(storm.victim), 50'000);
    EXPECT_LT(storm.bed.microseconds_of(storm.victim), 50'000 + 2 * 40e6 * 0.02e-3 * 1.02 + 400);
    EXPECT_GT(storm.bed.engine.counters()[storm.bed.nic_port(0)].paused, 45'000'000'000);
}

// The watchdog throws away what is for GPU 1 after 5 ms; the victim goes on at once, GPU 1's flow after the storm.
TEST(PauseStorm, WatchdogFreesTheVictim) {
    const Storm storm(milliseconds(5));
    EXPECT_TRUE(storm.bed.all_done());
    EXPECT_EQ(storm.bed.total().drops, 0U);
    EXPECT_GT(storm.bed.total().discards, 0U);
    EXPECT_EQ(storm.bed.total().watchdogs, 1U);
    EXPECT_LT(storm.bed.microseconds_of(storm.victim), 5'000 + 2 * 40e6 * 0.02e-3 * 1.02 + 400);
    EXPECT_GT(storm.bed.microseconds_of(storm.into), 50'000);
}

std::vector<RoutedFlow> all_routes(const PacketBed& bed, std::uint32_t gpus) {
    std::vector<RoutedFlow> flows;
    for (std::uint32_t from = 0; from < gpus; ++from) {
        for (std::uint32_t to = 0; to < gpus; ++to) {
            if (from != to) flows.push_back({GpuId{from}, bed.graph.route({GpuId{from}, GpuId{to}})});
        }
    }
    return flows;
}

TEST(BufferDependency, UpDownRoutesHaveNoCycle) {
    const PacketBed bed(fat_tree_with_ecmp(4));
    EXPECT_TRUE(find_buffer_cycle(bed.graph, all_routes(bed, 16)).empty());
    EXPECT_EQ(describe_buffer_cycle(bed.graph, {}), "");
}

// Two ToRs a, b of a pod and its aggregation switches x, y. Flows that turn up again at a ToR, a-x-b-y and b-y-a-x,
// close the cycle ax, xb, by, ya.
TEST(BufferDependency, RoutesThatTurnUpAgainCloseACycle) {
    const PacketBed bed(fat_tree_with_ecmp(4));
    const FabricGraph& graph = bed.graph;
    const auto node_behind = [&](std::uint32_t port) { return graph.port(graph.port(port).peer).node; };
    const auto step = [&](std::uint32_t from, std::uint32_t to) {  // local port of a switch to its neighbour
        for (std::uint8_t i = 0; i < graph.ports_of(from); ++i) {
            if (node_behind(graph.first_port(from) + i) == to) return i;
        }
        return std::uint8_t{255};
    };
    const std::uint32_t a = node_behind(bed.nic_port(0)), b = node_behind(bed.nic_port(2));
    std::vector<std::uint32_t> up;
    for (std::uint32_t i = 0; i < graph.ports_of(a); ++i) {
        const std::uint32_t behind = node_behind(graph.first_port(a) + i);
        if (graph.is_switch(behind)) up.push_back(behind);
    }
    const std::uint32_t x = up[0], y = up[1];
    const auto route = [&](std::initializer_list<std::uint32_t> nodes) {
        PacketRoute made;
        for (const std::uint32_t* node = nodes.begin(); node + 1 != nodes.end(); ++node) {
            made.ports[made.switches++] = step(node[0], node[1]);
        }
        return made;
    };
    std::vector<RoutedFlow> flows = all_routes(bed, 16);
    flows.push_back({GpuId{0}, route({a, x, b, y})});
    EXPECT_TRUE(find_buffer_cycle(graph, flows).empty());
    flows.push_back({GpuId{2}, route({b, y, a, x})});
    const std::vector<std::uint32_t> cycle = find_buffer_cycle(graph, flows);
    ASSERT_EQ(cycle.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(node_behind(cycle[i]), graph.port(cycle[(i + 1) % 4]).node);
    const std::string text = describe_buffer_cycle(graph, cycle);
    EXPECT_EQ(std::count(text.begin(), text.end(), '>'), 4);
    EXPECT_NE(text.find(graph.cluster().vertex_name(graph.vertex_of(x))), std::string::npos);
}

}  // namespace
}  // namespace rehearse

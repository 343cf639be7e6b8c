// The packet engine behind the NetworkModel interface, against the flow model where nothing queues.
#include <gtest/gtest.h>

#include "models/network/flow/flow_model.hpp"
#include "models/network/packet/packet_model.hpp"
#include "tests/topology/fabrics.hpp"

namespace rehearse {
namespace {

double end_of(NetworkModel& model, const TransferRequest& request) {
    model.start(SimTime{0}, request);
    std::vector<Completion> done;
    while (done.empty() && model.next_event_time() < SimTime{INT64_MAX}) model.advance(model.next_event_time(), done);
    EXPECT_EQ(done.size(), 1U);
    EXPECT_EQ(done.at(0).token, request.token);
    return done.at(0).at.seconds();
}

struct Bed {
    explicit Bed(const ClusterSpec& spec) : cluster(build_cluster(spec)), router(cluster, {}, 1) {}
    double flow(const TransferRequest& request) {
        FlowModel model(cluster, router, {});
        return end_of(model, request);
    }
    double packet(const TransferRequest& request) {
        PacketModel model(cluster, router, {}, {}, 1);
        return end_of(model, request);
    }
    Cluster cluster;
    Router router;
};

TransferRequest request_of(TransferPattern pattern, std::span<const GpuId> gpus, Bytes size, std::uint32_t steps = 1) {
    return {.pattern = pattern, .gpus = gpus, .size = size, .steps = steps, .token = 7};
}

TEST(PacketModel, OneMessageTakesTheFluidTimeAndAPacketPerSwitch) {
    Bed bed(testing::fat_tree(4));
    const std::vector<GpuId> ends{GpuId{0}, GpuId{15}};
    const TransferRequest request = request_of(TransferPattern::point_to_point, ends, Bytes{4'000'000});
    const double first_packet = (4096 + 82) * 8 / 400e9;
    EXPECT_NEAR(bed.packet(request), bed.flow(request) + 5 * first_packet, 2e-9);
}

TEST(PacketModel, RingOfHostsAndOfNodes) {
    Bed hosts(testing::fat_tree(4));
    std::vector<GpuId> ring;
    for (std::uint32_t i = 0; i < 16; ++i) ring.push_back(GpuId{i});
    const TransferRequest request = request_of(TransferPattern::ring, ring, Bytes{30 * 2'500'000}, 30);
    // Both pay each hop in its turn. Packets share every link with ACKs, and wait for a whole packet at every switch.
    const double acks = 82.0 / (4096 + 82);
    EXPECT_NEAR(hosts.packet(request) / hosts.flow(request), 1 + acks, 0.01);

    ClusterSpec spec = testing::clos(4);
    Bed nodes(spec);
    std::vector<GpuId> members;  // two GPUs of each node: every other hop is NVLink
    for (std::uint32_t node = 0; node < 4; ++node) {
        members.push_back(GpuId{8 * node});
        members.push_back(GpuId{8 * node + 1});
    }
    const TransferRequest mixed = request_of(TransferPattern::ring, members, Bytes{14 * 4'000'000}, 14);
    EXPECT_NEAR(nodes.packet(mixed) / nodes.flow(mixed), 1, 0.10);  // NVLink hops are not pipelined with the NICs'
}

TEST(PacketModel, AllToAllSharesTheNics) {
    Bed bed(testing::fat_tree(4));
    std::vector<GpuId> members;
    for (std::uint32_t i = 0; i < 4; ++i) members.push_back(GpuId{i});
    const TransferRequest request = request_of(TransferPattern::all_to_all, members, Bytes{30'000'000});
    // ACKs of 86 bytes come against every packet of 4,178, which the flow model leaves out.
    EXPECT_NEAR(bed.packet(request) / bed.flow(request), 1 + 86.0 / 4178, 0.003);
}

TEST(PacketModel, InsideANodeNothingIsSent) {
    Bed bed(testing::clos(1));
    const std::vector<GpuId> ends{GpuId{0}, GpuId{3}};
    const TransferRequest request = request_of(TransferPattern::point_to_point, ends, Bytes{300'000'000});
    EXPECT_NEAR(bed.packet(request), 1e-3 + 0.5e-6, 1e-9);  // 300 GB/s, 500 ns through the switch
}

// One message after the other between one pair, and one ring after the other: the connections of the first serve all.
TEST(PacketModel, ConnectionsAreKeptAndUsedAgain) {
    Bed bed(testing::fat_tree(4));
    std::vector<GpuId> members;
    for (std::uint32_t i = 0; i < 4; ++i) members.push_back(GpuId{4 * i});
    const auto pair = std::span(members).first(2);
    for (const TransferRequest& request : {request_of(TransferPattern::point_to_point, pair, Bytes{100'000}),
                                           request_of(TransferPattern::ring, members, Bytes{6 * 50'000}, 6)}) {
        PacketModel model(bed.cluster, bed.router, {}, {}, 1);
        std::vector<Completion> done;
        SimDuration first;
        for (std::size_t n = 1; n <= 50; ++n) {
            const SimTime start = SimTime{} + microseconds(100) * static_cast<std::int64_t>(n);
            while (model.next_event_time() < start) model.advance(model.next_event_time(), done);
            model.start(start, request);
            while (done.size() < n) model.advance(model.next_event_time(), done);
            if (n == 1) first = done.back().at - start;
            EXPECT_EQ(done.back().at - start, first) << n;
        }
        EXPECT_EQ(model.connections(), request.pattern == TransferPattern::ring ? 4U : 1U);
        EXPECT_EQ(model.packet_share().transfers, 50U);
    }
}

// Transfers that overlap have connections of their own: as many as there are at once.
TEST(PacketModel, TransfersAtOnceShareNoConnection) {
    Bed bed(testing::fat_tree(4));
    const std::vector<GpuId> ends{GpuId{0}, GpuId{15}};
    const TransferRequest request = request_of(TransferPattern::point_to_point, ends, Bytes{1'000'000});
    PacketModel model(bed.cluster, bed.router, {}, {}, 1);
    std::vector<Completion> done;
    for (int round = 0; round < 5; ++round) {
        const SimTime start = SimTime{} + milliseconds(1) * round;
        while (model.next_event_time() < start) model.advance(model.next_event_time(), done);
        for (int i = 0; i < 3; ++i) model.start(start, request);
    }
    while (model.next_event_time() < SimTime{INT64_MAX}) model.advance(model.next_event_time(), done);
    EXPECT_EQ(done.size(), 15U);
    EXPECT_EQ(model.connections(), 3U);
}

// The caller's steps change nothing: neither the times of the ends nor the packets. An incast under PFC has queues,
// pauses and ties.
TEST(PacketModel, FinerStepsChangeNothing) {
    Bed bed(testing::fat_tree(4));
    const auto run = [&](SimDuration step) {
        PacketModel model(bed.cluster, bed.router, {}, {}, 1);
        for (std::uint32_t i = 1; i < 12; ++i) {
            const GpuId ends[] = {GpuId{i}, GpuId{0}};
            TransferRequest request = request_of(TransferPattern::point_to_point, ends, Bytes{60'000 + 7'000 * i});
            request.token = i;
            model.start(SimTime{} + nanoseconds(300) * i, request);
        }
        std::vector<Completion> done;
        SimTime now;
        for (SimTime next = model.next_event_time(); next < SimTime{INT64_MAX}; next = model.next_event_time()) {
            const bool is_fine = step > SimDuration{0} && done.size() < 11;  // then a second of idle timers
            now = is_fine ? std::min(next, now + step) : next;
            model.advance(now, done);
        }
        std::vector<std::pair<std::int64_t, std::uint64_t>> ends;
        for (const Completion& one : done) ends.emplace_back(one.at.value, one.token);
        EXPECT_EQ(ends.size(), 11U);
        return std::pair{ends, model.packet_share().transmissions};
    };
    EXPECT_EQ(run(SimDuration{0}), run(nanoseconds(70)));
}

}  // namespace
}  // namespace rehearse

// What of the traffic becomes packets, and what a record of it says before and after.
#include <gtest/gtest.h>

#include "models/network/packet_check.hpp"
#include "models/network/packet_effort.hpp"
#include "models/network/sliced_model.hpp"
#include "tests/topology/fabrics.hpp"

namespace rehearse {
namespace {

// Four nodes of eight GPUs. Transfers: pp 0 -> 8 at 0, pp 1 -> 2 inside a node, dp ring 0, 8, 16, 24 at 1 ms, embedding
// 9 -> 25 at 2 ms.
struct Bed {
    Bed() : cluster(build_cluster(testing::clos(4))), router(cluster, {}, 1) {}

    void start_all(NetworkModel& model) const {
        const auto start = [&](TrafficKind kind, SimDuration at, std::vector<GpuId> gpus, TransferPattern pattern) {
            TransferRequest request;
            request.pattern = pattern;
            request.gpus = gpus;
            request.size = Bytes{600'000};
            request.steps = pattern == TransferPattern::ring ? 6 : 1;
            request.kind = kind;
            model.start(SimTime{} + at, request);
        };
        const auto pair = TransferPattern::point_to_point;
        start(TrafficKind::pipeline, milliseconds(0), {GpuId{0}, GpuId{8}}, pair);
        start(TrafficKind::pipeline, milliseconds(0), {GpuId{1}, GpuId{2}}, pair);
        start(TrafficKind::data, milliseconds(1), {GpuId{0}, GpuId{8}, GpuId{16}, GpuId{24}}, TransferPattern::ring);
        start(TrafficKind::embedding, milliseconds(2), {GpuId{9}, GpuId{25}}, pair);
    }
    std::vector<Completion> run(NetworkModel& model) const {
        start_all(model);
        std::vector<Completion> done;
        for (SimTime at = model.next_event_time(); at < SimTime{INT64_MAX}; at = model.next_event_time())
            model.advance(at, done);
        return done;
    }
    TrafficSlice slice(const SliceSpec& spec) const {  // rank r on GPU r
        TrafficSlice slice{spec, std::vector<bool>(cluster.gpu_count())};
        if (spec.ranks) {
            for (std::int64_t rank = spec.ranks->first; rank <= spec.ranks->last; ++rank)
                slice.gpus[static_cast<std::size_t>(rank)] = true;
        }
        return slice;
    }
    // Packets in the slice: as sent, and as the record of flows foretells.
    std::uint64_t transfers(const SliceSpec& spec) const {
        SlicedModel model(cluster, router, {}, {}, slice(spec), 1);
        EXPECT_EQ(run(model).size(), 4U);
        const PacketShare share = model.packet_share();
        EXPECT_EQ(share.transfers_all, 3U);

        FlowModel flows(cluster, router, {});
        TransferRecord record;
        TransferLog log(flows, record);
        run(log);
        const PacketEffort effort =
            packet_effort(record, slice(spec), FabricGraph(cluster, router), router, {}, {});
        EXPECT_EQ(effort.slice.transfers, share.transfers);
        EXPECT_EQ(effort.slice.transmissions, share.transmissions);
        return share.transfers;
    }

    Cluster cluster;
    Router router;
};

TEST(SlicedModel, TakesWhatLiesInAllBounds) {
    const Bed bed;
    EXPECT_EQ(bed.transfers({}), 3U);  // all that leave their node
    EXPECT_EQ(bed.transfers({.ranks = {}, .phase = TrafficKind::pipeline, .time = {}}), 1U);
    EXPECT_EQ(bed.transfers({.ranks = SliceSpec::Ranks{9, 9}, .phase = {}, .time = {}}), 1U);
    EXPECT_EQ(bed.transfers({.ranks = SliceSpec::Ranks{20, 24}, .phase = {}, .time = {}}), 1U);  // a member is enough
    EXPECT_EQ(bed.transfers({.ranks = SliceSpec::Ranks{3, 7}, .phase = {}, .time = {}}), 0U);
    const SliceSpec::Time late{milliseconds(1), milliseconds(2)};  // the end is not in it
    EXPECT_EQ(bed.transfers({.ranks = {}, .phase = {}, .time = late}), 1U);
    EXPECT_EQ(bed.transfers({.ranks = SliceSpec::Ranks{0, 7}, .phase = TrafficKind::embedding, .time = {}}), 0U);
}

// 147 packets of 4,096 bytes over two links (host, ToR, host) and as many ACKs.
TEST(SlicedModel, CountsEveryTransmission) {
    const Bed bed;
    SlicedModel model(bed.cluster, bed.router, {}, {},
                      bed.slice({.ranks = {}, .phase = TrafficKind::pipeline, .time = {}}), 1);
    bed.run(model);
    EXPECT_EQ(model.packet_share().transmissions, 147U * 2 * 2);
    EXPECT_EQ(model.packet_share().payload, 600'000);
    EXPECT_EQ(model.packet_share().payload_all, (1 + 4 + 1) * 600'000);  // each member of the ring sends 600 kB
    EXPECT_EQ(model.packet_share().shared, 1);  // the ring takes the same links, a millisecond later
}

TEST(SlicedModel, CompletionsKeepTheirOrder) {
    const Bed bed;
    SlicedModel model(bed.cluster, bed.router, {}, {},
                      bed.slice({.ranks = {}, .phase = TrafficKind::data, .time = {}}), 1);
    const std::vector<Completion> done = bed.run(model);
    ASSERT_EQ(done.size(), 4U);
    for (std::size_t i = 1; i < done.size(); ++i) EXPECT_LE(done[i - 1].at, done[i].at);
}

// Nothing meets anything: flows and packets differ by the ACKs and by a packet per switch.
TEST(PacketCheck, AgreesWhereNothingQueues) {
    const Bed bed;
    FlowModel flows(bed.cluster, bed.router, {});
    TransferRecord record;
    TransferLog log(flows, record);
    bed.run(log);
    const std::vector<PhaseCheck> checks = check_packets(record, bed.cluster, bed.router, {}, {}, 1);
    ASSERT_EQ(checks.size(), 3U);
    EXPECT_EQ(checks[1].kind, TrafficKind::data);
    for (const PhaseCheck& check : checks) {
        EXPECT_EQ(check.transfers, 1U);
        EXPECT_EQ(check.scale, 1);
        EXPECT_NEAR(check.packet.completion_mean_s / check.flow.completion_mean_s, 1, 0.03) << name(check.kind);
    }
}

TEST(PacketCheck, ShrinksToItsBudget) {
    const Bed bed;
    FlowModel flows(bed.cluster, bed.router, {});
    TransferRecord record;
    TransferLog log(flows, record);
    bed.run(log);
    for (const PhaseCheck& check : check_packets(record, bed.cluster, bed.router, {}, {}, 1, 294)) {
        EXPECT_EQ(check.scale, 294.0 / static_cast<double>(check.transmissions));
        EXPECT_LT(check.packet.completion_s, 40e-6);  // 600 kB alone take 24 us
    }
}

}  // namespace
}  // namespace rehearse

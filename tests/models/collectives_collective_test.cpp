// Closed forms of collectives, the factors of nccl-tests, and the flow model against the closed form.
#include <gtest/gtest.h>

#include <vector>

#include "models/collectives/collective.hpp"
#include "models/network/flow/flow_model.hpp"
#include "models/network/framing.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

// n = 4, S = 1 MiB: a part is 256 KiB.
TEST(Collective, VolumeTable) {
    const Bytes mib{1 << 20};
    const auto expect = [&](Kind kind, Algorithm algorithm, std::int64_t sent, std::uint32_t steps) {
        const CollectiveVolume volume = collective_volume(kind, algorithm, 4, mib);
        EXPECT_EQ(volume.sent_per_member.value, sent) << name(kind) << ' ' << name(algorithm);
        EXPECT_EQ(volume.steps, steps) << name(kind) << ' ' << name(algorithm);
    };
    expect(Kind::all_reduce, Algorithm::ring, 6 << 18, 6);
    expect(Kind::all_gather, Algorithm::ring, 3 << 18, 3);
    expect(Kind::reduce_scatter, Algorithm::ring, 3 << 18, 3);
    expect(Kind::broadcast, Algorithm::ring, 1 << 20, 3);
    expect(Kind::all_to_all, Algorithm::direct, 3 << 18, 1);
    expect(Kind::all_reduce, Algorithm::tree, 2 << 20, 4);
    expect(Kind::broadcast, Algorithm::tree, 1 << 20, 2);
    EXPECT_EQ(collective_volume(Kind::all_reduce, Algorithm::tree, 5, mib).steps, 6U);  // ceil(log2 5) = 3
}

TEST(Collective, OneMemberDoesNothing) {
    const CollectiveVolume volume = collective_volume(Kind::all_reduce, Algorithm::ring, 1, Bytes{100});
    EXPECT_EQ(volume.sent_per_member, Bytes{0});
    EXPECT_EQ(volume.steps, 0U);
}

TEST(Collective, SentRoundsUp) {  // 2 x 2/3 x 100 = 133.3
    EXPECT_EQ(collective_volume(Kind::all_reduce, Algorithm::ring, 3, Bytes{100}).sent_per_member, Bytes{134});
}

TEST(Collective, MissingPairsAreRefused) {
    EXPECT_EQ(availability(Kind::all_gather, Algorithm::tree), Availability::missing);
    EXPECT_EQ(availability(Kind::all_to_all, Algorithm::ring), Availability::missing);
    EXPECT_THROW(collective_volume(Kind::all_gather, Algorithm::tree, 4, Bytes{1}), InvariantBroken);
}

// A row of nccl-tests: all-reduce, 16 GPUs, 1 GiB in 5 ms: algbw 214.7 GB/s, busbw x 30/16 = 402.7 GB/s.
TEST(Collective, BandwidthsAsNcclTestsDefinesThem) {
    EXPECT_DOUBLE_EQ(bus_factor(Kind::all_reduce, 16).value, 1.875);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::all_gather, 16).value, 0.9375);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::reduce_scatter, 16).value, 0.9375);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::all_to_all, 16).value, 0.9375);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::broadcast, 16).value, 1.0);
    EXPECT_NEAR(algorithm_bandwidth(Bytes{1 << 30}, milliseconds(5)), 214.7483648e9, 1);
    EXPECT_NEAR(bus_bandwidth(Kind::all_reduce, 16, Bytes{1 << 30}, milliseconds(5)), 402.653184e9, 1);
}

// An idle ring without latency runs its links at B, so its bus bandwidth is B: for every kind with a ring but broadcast
// by definition of the factor, for broadcast because S / B is its time.
TEST(Collective, IdleRingHasBusBandwidthOfItsLinks) {
    for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter, Kind::broadcast}) {
        const Bytes size{std::int64_t{8} << 30};
        const SimDuration time =
            collective_time(kind, Algorithm::ring, 8, size, SimDuration{0}, gigabits_per_second(200));
        EXPECT_NEAR(bus_bandwidth(kind, 8, size, time) / 25e9, 1, 1e-9) << name(kind);
    }
}

// Ring all-reduce over one GPU in each of 8 hosts of a ToR set, NIC to NIC: every NIC sends one stream, so
// T = 2 (n-1) alpha + 2 (n-1)/n S x wire ratio / 25e9 B/s, where alpha is the latency of one hop.
TEST(Collective, RingThroughTheFlowModelIsTheClosedForm) {
    ClusterSpec cluster_spec;
    cluster_spec.hosts = 64;
    const Cluster cluster = build_cluster(cluster_spec);
    const Router router(cluster, EcmpSpec{}, 1);
    const NetworkSpec spec;
    FlowModel model(cluster, router, spec);

    std::vector<GpuId> gpus;
    for (std::uint32_t host = 0; host < 8; ++host) gpus.push_back(GpuId{host * 8});
    const Bytes size{std::int64_t{64} << 20};
    const CollectiveVolume volume = collective_volume(Kind::all_reduce, Algorithm::ring, 8, size);
    TransferRequest request;
    request.pattern = TransferPattern::ring;
    request.gpus = gpus;
    request.size = volume.sent_per_member;
    request.steps = volume.steps;
    model.start(SimTime{0}, request);
    std::vector<Completion> done;
    while (model.next_event_time().value != INT64_MAX) model.advance(model.next_event_time(), done);

    SimDuration alpha{0};
    const Path path = router.route({gpus[0], gpus[1], 0});
    for (const LinkId link : path.links()) alpha += cluster.link(link).latency;
    const Bytes message{volume.sent_per_member.value / volume.steps};
    const double ratio =
        static_cast<double>(wire_bytes(spec.framing, message, spec.mtu).value) / static_cast<double>(message.value);
    const SimDuration plain =
        collective_time(Kind::all_reduce, Algorithm::ring, 8, size, SimDuration{0}, gigabits_per_second(200));
    const SimDuration expected = alpha * 14 + plain * Ratio{ratio};
    ASSERT_EQ(done.size(), 1U);
    EXPECT_NEAR(static_cast<double>(done[0].at.value), static_cast<double>(expected.value), 10);
}

}  // namespace
}  // namespace rehearse

// Packet fabrics, traffic and parameters drawn at random, far from the defaults. What must hold in every one of them:
// nothing is dropped by a lossless fabric, every flow ends whole, each data packet crosses as many links as its path
// has, credits come back, and threads change nothing.
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::PacketBed;

class Draw {
public:
    explicit Draw(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(splitmix64(state_) % static_cast<std::uint64_t>(high - low + 1));
    }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return *(values.begin() + between(0, static_cast<std::int64_t>(values.size()) - 1));
    }

private:
    std::uint64_t state_;
};

struct Case {
    ClusterSpec cluster;
    PacketSpec packet;
    NetworkSpec network;
    std::uint64_t seed = 0;

    explicit Case(std::uint64_t number) : seed(number) {
        Draw draw(number);
        cluster = testing::fat_tree_with_ecmp(draw.one_of({4, 6, 8}));
        cluster.fabric.link_latency = nanoseconds(draw.between(50, 2'000));
        cluster.fabric.switch_latency = nanoseconds(draw.between(0, 1'000));
        network.framing = draw.one_of({Framing::rocev2_ipv4, Framing::oefh, Framing::esun, Framing::fixed_64});
        network.mtu = Bytes{draw.one_of({512, 1024, 4096, 8192})};
        network.flow_control = draw.one_of({FlowControl::pfc, FlowControl::cbfc});
        packet.transport.recovery = draw.one_of({LossRecovery::go_back_n, LossRecovery::selective_repeat});
        packet.transport.paths = draw.one_of({PathChoice::ecmp, PathChoice::spray, PathChoice::flowlet});
        if (packet.transport.paths != PathChoice::ecmp) packet.transport.recovery = LossRecovery::selective_repeat;
        packet.transport.reorder_packets = 1 << 20;  // nothing is lost: what is late is no loss
        packet.transport.window_packets = draw.one_of({0, 0, 8, 64});
        packet.transport.ack_every = draw.one_of({1, 4, 8});  // no more than the window
        packet.buffer.pool = Bytes{draw.between(20'000'000, 60'000'000)};
        packet.buffer.alpha = Ratio{draw.one_of({0.125, 0.5, 1.0, 4.0})};
        packet.buffer.discipline = draw.one_of({QueueDiscipline::fifo, QueueDiscipline::fair});
        packet.switching = draw.one_of({Switching::store_and_forward, Switching::cut_through});
        packet.congestion = draw.one_of({CongestionControl::none, CongestionControl::none, CongestionControl::dcqcn,
                                         CongestionControl::swift, CongestionControl::hpcc});
        if (packet.congestion == CongestionControl::dcqcn) {
            packet.ecn.enabled = Switch::on;
            packet.ecn.mark_min = Bytes{100'000};
            packet.ecn.mark_max = Bytes{400'000};
        }
        packet.llr.enabled = draw.one_of({Switch::off, Switch::off, Switch::on});
    }
};

struct Outcome {
    std::uint64_t fingerprint = 0, events = 0;
    PortCounters sum;
};

Outcome run(const Case& drawn, const Crew& crew) {
    PacketBed bed(drawn.cluster, drawn.packet, drawn.network, drawn.seed, crew);
    Draw draw(drawn.seed + 1'000);
    const auto hosts = static_cast<std::int64_t>(bed.cluster.gpu_count());
    const std::int64_t victim = draw.between(0, hosts - 1);
    std::uint64_t expected = 0;
    for (std::int64_t flow = draw.between(8, 40); flow > 0; --flow) {
        const std::int64_t from = draw.between(0, hosts - 1);
        const std::int64_t to = draw.between(0, 2) == 0 ? victim : draw.between(0, hosts - 1);
        if (from == to) continue;
        const GpuId source{static_cast<std::uint32_t>(from)}, destination{static_cast<std::uint32_t>(to)};
        const std::int64_t bytes = draw.one_of<std::int64_t>({1, 4'096, 100'000, 700'000});
        bed.send(source.value, destination.value, bytes, SimTime{draw.between(0, 20'000'000)});
        const std::int64_t packets = (bytes + drawn.network.mtu.value - 1) / drawn.network.mtu.value;
        const Path path = bed.router.route({source, destination, 0});
        for (const LinkId link : path.links())
            expected += bed.cluster.link(link).tier >= LinkTier::host ? static_cast<std::uint64_t>(packets) : 0;
    }
    bed.run();
    EXPECT_TRUE(bed.all_done());
    EXPECT_EQ(bed.engine.credits_out(), 0U);
    const Outcome outcome{bed.engine.fingerprint(), bed.engine.events(), bed.total()};
    EXPECT_EQ(outcome.sum.drops, 0U);
    EXPECT_EQ(outcome.sum.discards, 0U);
    EXPECT_EQ(outcome.sum.data, expected);  // and so nothing went twice
    return outcome;
}

class PacketSwarm : public ::testing::TestWithParam<int> {};

TEST_P(PacketSwarm, LosesNothingAndEnds) {
    const Case drawn(static_cast<std::uint64_t>(GetParam()));
    const Outcome alone = run(drawn, {});
    const Outcome together = run(drawn, {.threads = 2});
    EXPECT_EQ(together.fingerprint, alone.fingerprint);
    EXPECT_EQ(together.events, alone.events);
    EXPECT_EQ(together.sum, alone.sum);
}

INSTANTIATE_TEST_SUITE_P(Cases, PacketSwarm, ::testing::Range(0, 60));

}  // namespace
}  // namespace rehearse

// The same traffic swept by 1, 2, 3 and 4 threads: every counter of every port, every completion and the number of
// events are the same to the last bit, whatever mechanism is at work.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "models/network/packet/cut.hpp"
#include "models/network/traffic_matrix.hpp"
#include "sim/base/fault.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree_with_ecmp;
using testing::PacketBed;

struct CrewCase {
    const char* name;
    PacketSpec packet;
    NetworkSpec network = PacketBed::plain_network();
    std::function<void(PacketBed&)> more = [](PacketBed&) {};  // besides the permutation and the incast
    friend void PrintTo(const CrewCase& it, std::ostream* out) { *out << it.name; }
};

// 128 hosts: each sends 200 kB to another, and a fourth of them 100 kB to host 0, so that queues fill and PFC pauses.
void begin_traffic(PacketBed& bed) {
    const std::vector<std::uint32_t> to = permutation(128, 3);
    for (std::uint32_t i = 0; i < 128; ++i) bed.send(i, to[i], 200'000);
    for (std::uint32_t i = 4; i < 128; i += 4) bed.send(i, 0, 100'000, SimTime{1'000'000});
}

PacketSpec small_buffer() {
    PacketSpec spec;
    spec.buffer.pool = Bytes{4'000'000};
    spec.transport.timeout_exponent = 6;
    return spec;
}

CrewCase with_pfc() { return {"pfc", small_buffer()}; }

CrewCase with_credits() {
    CrewCase it{"credits_and_retry", small_buffer()};
    it.packet.buffer.pool = Bytes{113'660'000};
    it.network.flow_control = FlowControl::cbfc;
    it.packet.llr.enabled = Switch::on;
    it.packet.loss.data = it.packet.loss.control = it.packet.cbfc.update_loss = Ratio{1e-3};
    return it;
}

CrewCase with_control(const char* name, CongestionControl law) {
    CrewCase it{name, small_buffer()};
    it.packet.congestion = law;
    it.packet.ecn = {.enabled = Switch::on, .mark_min = Bytes{20'000}, .mark_max = Bytes{80'000},
                     .mark_probability = Ratio{0.5}};
    return it;
}

CrewCase with_fair_queues() {
    CrewCase it{"fair", small_buffer()};
    it.packet.buffer.discipline = QueueDiscipline::fair;
    it.packet.buffer.bounded = Switch::off;
    return it;
}

CrewCase with_spraying() {
    CrewCase it{"spray", small_buffer()};
    it.packet.transport.paths = PathChoice::spray;
    it.packet.transport.recovery = LossRecovery::selective_repeat;
    it.packet.transport.reorder_packets = 16;
    it.packet.loss.data = Ratio{1e-3};
    return it;
}

// A switch dies and comes back, a link is slow, hosts are told; and a NIC that pauses.
CrewCase with_faults() {
    CrewCase it{"faults", small_buffer()};
    it.packet.detection = {.mode = DetectionMode::switch_event, .detect = microseconds(3), .react = microseconds(2)};
    it.more = [](PacketBed& bed) {
        const std::uint32_t tor = bed.graph.port(bed.graph.port(bed.nic_port(5)).peer).node;
        const LinkId up = bed.graph.port(bed.graph.first_port(tor) + bed.graph.ports_of(tor) - 1).link;
        const VertexId above = bed.cluster.link(up).to;
        bed.engine.add_fault({.kind = LinkFaultKind::dead_switch, .vertex = above, .begin = SimTime{5'000'000},
                              .end = SimTime{60'000'000}});
        bed.engine.add_fault({.kind = LinkFaultKind::slow, .link = bed.downlink_of(9), .factor = Ratio{0.25}});
        bed.engine.add_storm({GpuId{17}, SimTime{2'000'000}, SimTime{30'000'000}});
    };
    return it;
}

// Rings over hosts that lie apart, and one tree node: what arrives at a NIC lets others go.
CrewCase with_collectives() {
    CrewCase it{"collectives", small_buffer()};
    it.more = [](PacketBed& bed) {
        const auto base = static_cast<std::uint32_t>(bed.engine.results().size());
        for (std::uint32_t i = 0; i < 16; ++i) {
            bed.engine.connect({.source = GpuId{i * 8}, .destination = GpuId{(i + 1) % 16 * 8},
                                .message = Bytes{20'000}, .messages = 30, .start = {}, .granted = 1,
                                .successors = {base + (i + 1) % 16, no_connection}});
        }
        const std::uint32_t left = base + 16, right = base + 17, up = base + 18;
        for (const std::uint32_t from : {40u, 80u}) {
            bed.engine.connect({.source = GpuId{from}, .destination = GpuId{1}, .message = Bytes{9'000},
                                .messages = 10, .start = {}, .successors = {up, no_connection},
                                .sibling = from == 40 ? right : left});
        }
        bed.engine.connect({.source = GpuId{1}, .destination = GpuId{100}, .message = Bytes{9'000}, .messages = 10,
                            .start = {}, .granted = 0});
    };
    return it;
}

class CrewSizes : public ::testing::TestWithParam<CrewCase> {};

struct Outcome {
    std::uint64_t events, fingerprint;
    std::vector<PortCounters> ports;
    std::vector<ConnectionResult> results;
};

Outcome sweep(const CrewCase& it, std::uint32_t threads) {
    PacketBed bed(fat_tree_with_ecmp(8), it.packet, it.network, 1, {.threads = threads});
    begin_traffic(bed);
    it.more(bed);
    bed.engine.run(SimTime{3'000'000});  // stops and goes on
    bed.engine.run(SimTime{3'000'001});
    bed.run();
    EXPECT_TRUE(bed.all_done());
    return {bed.engine.events(), bed.engine.fingerprint(), bed.engine.counters(), bed.engine.results()};
}

TEST_P(CrewSizes, ChangeNothing) {
    const Outcome alone = sweep(GetParam(), 1);
    for (const std::uint32_t threads : {2u, 3u, 4u}) {
        const Outcome crew = sweep(GetParam(), threads);
        EXPECT_EQ(crew.events, alone.events);
        EXPECT_EQ(crew.fingerprint, alone.fingerprint);
        EXPECT_TRUE(crew.ports == alone.ports) << threads << " threads";
        for (std::size_t i = 0; i < alone.results.size(); ++i) {
            ASSERT_EQ(crew.results[i].delivered, alone.results[i].delivered) << i;
            ASSERT_EQ(crew.results[i].finished, alone.results[i].finished) << i;
            ASSERT_EQ(crew.results[i].retransmissions, alone.results[i].retransmissions) << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, CrewSizes,
                         ::testing::Values(with_pfc(), with_credits(), with_control("dcqcn", CongestionControl::dcqcn),
                                           with_control("swift", CongestionControl::swift),
                                           with_control("hpcc", CongestionControl::hpcc), with_fair_queues(),
                                           with_spraying(), with_faults(), with_collectives()),
                         [](const auto& each) { return std::string(each.param.name); });

// The cases above are none if their mechanisms sleep.
TEST(CrewSizes, MechanismsAreAtWork) {
    const auto sum = [](const CrewCase& it) { return total_of(sweep(it, 2).ports); };
    EXPECT_GT(sum(with_pfc()).pauses, 100U);
    EXPECT_GT(sum(with_credits()).replays, 100U);
    EXPECT_GT(sum(with_control("dcqcn", CongestionControl::dcqcn)).marks, 100U);
    EXPECT_GT(sum(with_spraying()).losses, 10U);
    EXPECT_GT(sum(with_faults()).losses, 10U);
}

// Servers whole, equal shares: 8 pods by 2 and 4; by 3 no share is empty.
TEST(CutFabric, PodsStayTogether) {
    const PacketBed bed(fat_tree_with_ecmp(8));
    for (const std::uint32_t count : {2u, 3u, 4u}) {
        const std::vector<std::uint16_t> cut = cut_fabric(bed.graph, count);
        std::vector<std::uint32_t> ports(count, 0);
        for (std::uint32_t node = 0; node < cut.size(); ++node) ports.at(cut[node]) += bed.graph.ports_of(node);
        const auto [least, most] = std::minmax_element(ports.begin(), ports.end());
        EXPECT_LE(*most, *least * (count == 3 ? 1.2 : 1.0));
        if (count == 3) continue;
        for (std::uint32_t gpu = 0; gpu < 128; ++gpu) {
            const std::uint32_t tor = bed.graph.port(bed.graph.port(bed.nic_port(gpu)).peer).node;
            EXPECT_EQ(cut[tor], gpu * count / 128) << "the pods of 16 hosts in order";
        }
    }
}

// Eight NICs of a server lead to eight ToRs, and have one partition.
TEST(CutFabric, ServersAreWhole) {
    const PacketBed bed(testing::clos(128));
    const std::vector<std::uint16_t> cut = cut_fabric(bed.graph, 2);
    for (std::uint32_t gpu = 0; gpu < bed.cluster.gpu_count(); ++gpu) {
        const GpuId first{gpu / 8 * 8};
        EXPECT_EQ(cut[bed.graph.nic_of(GpuId{gpu})], cut[bed.graph.nic_of(first)]);
    }
    EXPECT_NE(cut[bed.graph.nic_of(GpuId{0})], cut[bed.graph.nic_of(GpuId{1023})]);
}

TEST(CutFabric, OneSwitchIsNoTwoPartitions) {
    ClusterSpec spec = testing::clos(4);
    spec.node.gpus = spec.node.nics = 1;
    spec.fabric.rails = 1;
    spec.fabric.tiers = 2;
    const PacketBed bed(spec);
    const std::uint32_t switches = bed.graph.node_count() - bed.graph.nic_count();
    EXPECT_THROW(cut_fabric(bed.graph, switches + 1), InputError);
}

}  // namespace
}  // namespace rehearse

// ECN, its notices, and congestion control at work in the fabric. 400 Gbps and 500 ns a link.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/network/traffic_matrix.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::fat_tree_with_ecmp;
using testing::PacketBed;

PacketSpec marking(std::int64_t from, std::int64_t to, double probability) {
    PacketSpec spec;
    spec.ecn = {Switch::on, Bytes{from}, Bytes{to}, Ratio{probability}};
    return spec;
}

PortCounters port_to(const PacketBed& bed, std::uint32_t host) {  // of the switch that serves the host
    const std::uint32_t nic = bed.graph.first_port(bed.graph.nic_of(GpuId{host}));
    return bed.engine.counters()[bed.graph.port(nic).peer];
}

PortCounters port_from(const PacketBed& bed, std::uint32_t host) {
    return bed.engine.counters()[bed.graph.first_port(bed.graph.nic_of(GpuId{host}))];
}

// Two senders keep 200 packets each in flight, so the queue stands still; marks are the ramp's share at its depth.
TEST(Ecn, MarksTheRampsShare) {
    for (const double probability : {1.0, 0.2}) {
        PacketSpec spec = marking(1'000'000, 2'000'000, probability);
        spec.transport.window_packets = 200;
        PacketBed bed(fat_tree(8), spec);
        bed.send(1, 0, 80'000'000);
        bed.send(2, 0, 80'000'000);
        bed.run();
        const PortCounters port = port_to(bed, 0);
        const double depth = static_cast<double>(port.queue_peak) - 4160;  // the peak is one packet above the mean
        const double share = probability * (depth - 1e6) / 1e6;
        const auto packets = static_cast<double>(port.data);
        EXPECT_GT(depth, 1.4e6);
        EXPECT_NEAR(static_cast<double>(port.marks) / packets, share,
                    4 * std::sqrt(share / packets) + 0.01 * share);
        EXPECT_EQ(bed.total().marks, port.marks);
    }
}

TEST(Ecn, NoneBelowAllAbove) {
    PacketBed below(fat_tree(8), marking(4160, 1'000'000, 1.0));  // a lone packet is the whole queue
    below.send(1, 0, 8'000'000);
    below.run();
    EXPECT_EQ(below.total().marks, 0U);
    PacketBed above(fat_tree(8), marking(0, 0, 0.0));
    above.send(1, 0, 8'000'000);
    above.run();
    EXPECT_EQ(above.total().marks, port_to(above, 0).data);
}

// 1,000 packets, all marked, 83.2 ns apart, gone before the first CNP leaves. One per gap of 10 us = 121 packets.
TEST(Notices, ComeDelayedAndSpaced) {
    PacketSpec spec = marking(0, 0, 1.0);
    spec.congestion = CongestionControl::dcqcn;
    spec.cnp_gap = microseconds(10);
    spec.cnp_delay = microseconds(100);
    PacketBed bed(fat_tree(8), spec);
    bed.send(1, 0, 1000 * 4096);
    const std::int64_t first = 2 * 583'200 + 100'000'000;  // two links of 500 ns, 83.2 ns a packet; the delay
    bed.engine.run(SimTime{first - 1});
    EXPECT_EQ(port_from(bed, 0).control, 1000U);  // ACKs
    bed.engine.run(SimTime{first});
    EXPECT_EQ(port_from(bed, 0).control, 1001U);
    bed.run();
    EXPECT_EQ(port_from(bed, 0).control, 1000U + 999 / 121 + 1);
}

// The repository's set has no CNPs: the echo in the ACKs slows the sender.
TEST(Notices, EchoInAcks) {
    const auto run = [](double mark) {
        PacketSpec spec = marking(0, 0, 1.0);
        if (mark == 0) spec.ecn.enabled = Switch::off;
        spec.congestion = CongestionControl::dcqcn;
        spec.dcqcn = DcqcnSet::hpcc_repository;
        PacketBed bed(fat_tree(8), spec);
        const std::uint32_t one = bed.send(1, 0, 1'000'000);
        bed.run();
        EXPECT_EQ(bed.total().control, bed.total().data);
        return bed.microseconds_of(one);
    };
    EXPECT_NEAR(run(0), 2 * (0.5832 + 0.50128) + 244 * 0.0832, 0.1);
    EXPECT_GT(run(1), 3 * run(0));
}

// Four links, three switches: 24 bytes more in the packet and in its ACK; 20 ps a byte.
TEST(Telemetry, AddsEightBytesPerSwitch) {
    PacketSpec spec;
    spec.congestion = CongestionControl::hpcc;
    PacketBed bed(fat_tree(8), spec);
    const std::uint32_t one = bed.send(0, 9, 4096);
    bed.run();
    EXPECT_NEAR(bed.microseconds_of(one), 4 * (0.5832 + 0.50128 + 2 * 24 * 20e-6), 1e-9);
}

struct Law {
    const char* name;
    CongestionControl control;
    DcqcnSet set = DcqcnSet::paper;
    EcnSet marks = EcnSet::simai;
    std::int64_t gigabits = 400;
    std::int64_t microseconds = 5000;
    double fairness_min = 0.95;  // Jain's index of seven
};

ClusterSpec tree_of(std::int64_t gigabits) {
    ClusterSpec spec = fat_tree_with_ecmp(8);
    spec.node.nic = gigabits_per_second(gigabits);
    return spec;
}

PacketSpec spec_of(const Law& law) {
    PacketSpec spec;
    spec.congestion = law.control;
    spec.dcqcn = law.set;
    spec.ecn = ecn_profile(law.marks, gigabits_per_second(law.gigabits));
    spec.buffer.alpha = Ratio{1.0};
    return spec;
}

struct Shared {
    double goodput = 0;   // of the second half of the time, as a share of the line
    double fairness = 0;  // Jain's index of what each sender sent in it
    double queue_mb = 0, pauses = 0;
};

// One host of each other pod sends to host 0 without end, the i-th from i x `apart` on: paths of equal length.
Shared share(const Law& law, std::uint32_t senders, SimDuration apart) {
    PacketBed bed(tree_of(law.gigabits), spec_of(law));
    const Bandwidth rate = gigabits_per_second(law.gigabits);
    const SimTime end = SimTime{} + microseconds(law.microseconds);
    const auto host = [](std::uint32_t i) { return 16 * (i + 1); };
    const std::int64_t enough = (rate * (end - SimTime{})).value;
    for (std::uint32_t i = 0; i < senders; ++i) bed.send(host(i), 0, enough, SimTime{} + i * apart);
    bed.engine.run(SimTime{end.value / 2});
    std::vector<double> sent;
    for (std::uint32_t i = 0; i < senders; ++i) sent.push_back(-static_cast<double>(port_from(bed, host(i)).data));
    const std::uint64_t before = port_to(bed, 0).data;
    bed.engine.run(end);
    double sum = 0, squares = 0;
    for (std::uint32_t i = 0; i < senders; ++i) {
        sent[i] += static_cast<double>(port_from(bed, host(i)).data);
        sum += sent[i];
        squares += sent[i] * sent[i];
    }
    EXPECT_EQ(bed.total().drops, 0U);
    const double packet_bits = static_cast<double>(port_to(bed, 0).data - before) * 4160 * 8;
    return {packet_bits / static_cast<double>(rate.value) / (static_cast<double>(end.value) / 2 * 1e-12),
            sum * sum / (senders * squares), static_cast<double>(port_to(bed, 0).queue_peak) / 1e6,
            static_cast<double>(bed.total().pauses)};
}

class CongestionLaw : public ::testing::TestWithParam<Law> {};

TEST_P(CongestionLaw, SevenToOne) {
    Law none = GetParam();
    none.control = CongestionControl::none;
    none.microseconds /= 4;  // enough: its queue only grows
    const Shared with = share(GetParam(), 7, SimDuration{0}), without = share(none, 7, SimDuration{0});
    EXPECT_GT(with.goodput, 0.9);
    EXPECT_GT(with.fairness, GetParam().fairness_min);
    EXPECT_LT(with.queue_mb, without.queue_mb);
    EXPECT_LT(with.pauses, without.pauses);
}

// States are advanced by events alone: the engine may stop and go on anywhere.
TEST_P(CongestionLaw, StoppingChangesNothing) {
    const auto fingerprint = [](SimDuration step) {
        PacketBed bed(tree_of(GetParam().gigabits), spec_of(GetParam()));
        for (std::uint32_t i = 1; i < 8; ++i) bed.send(i, 0, 1'000'000);
        for (SimTime at; bed.engine.next_event_time() < SimTime{INT64_MAX}; at = at + step) bed.engine.run(at);
        EXPECT_TRUE(bed.all_done());
        return bed.engine.fingerprint();
    };
    EXPECT_EQ(fingerprint(microseconds(17)), fingerprint(milliseconds(500)));
}

// The second sender finds the link full.
TEST_P(CongestionLaw, TwoFlowsConverge) {
    const Shared both = share(GetParam(), 2, microseconds(GetParam().microseconds / 10));
    EXPECT_GT(both.goodput, 0.9);
    EXPECT_GT(both.fairness, 0.95);
}

// The constants of DCQCN are for slow lines: at 400G its recovery takes longer than a test should. HPCC with W_AI = MTU
// / 100 hardly evens out seven windows of a few packets each (ten times as much does).
INSTANTIATE_TEST_SUITE_P(
    All, CongestionLaw,
    ::testing::Values(
        Law{"dcqcn_paper", CongestionControl::dcqcn, DcqcnSet::paper, EcnSet::dcqcn_paper, 40, 100'000},
        Law{"dcqcn_hpcc", CongestionControl::dcqcn, DcqcnSet::hpcc_repository, EcnSet::hpcc_repository, 10, 300'000},
        Law{"dcqcn_connectx", CongestionControl::dcqcn, DcqcnSet::connectx, EcnSet::hpcc_repository, 10, 300'000},
        Law{"swift", CongestionControl::swift}, Law{"megascale", CongestionControl::megascale, DcqcnSet::connectx},
        Law{"hpcc", CongestionControl::hpcc, DcqcnSet::paper, EcnSet::simai, 100, 20'000, 0.6}),
    [](const auto& law) { return std::string(law.param.name); });

}  // namespace
}  // namespace rehearse

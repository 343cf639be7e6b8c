// What data-frame loss on one link costs a long flow, and what bit errors become behind forward error correction.
#include <gtest/gtest.h>

#include "models/network/packet/frame_loss.hpp"
#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::PacketBed;

constexpr double packet_us = 0.0832;

struct Sweep {
    double lost_share = 0;  // of the goodput without loss
    double loss = 0;        // as drawn: lost frames / data frames on the link
};

// A flow over two links with a loop of 10 us, 20 seeds; ACKs are not lost. A packet that is lost again when it is
// repeated waits for the timeout, 65.5 us here.
Sweep sweep(double loss, std::int64_t packets, Switch llr) {
    PacketSpec spec;
    spec.llr.enabled = llr;
    spec.transport.timeout_exponent = 4;
    spec.transport.retries = 1000;
    ClusterSpec tree = fat_tree(4);
    tree.fabric.link_latency = picoseconds((10'000'000 - 2 * 83'200 - 2 * 1'280) / 4);
    const double path = 10;
    double time = 0, lost = 0, sent = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        PacketBed bed(tree, spec, PacketBed::plain_network(), seed);
        bed.engine.add_fault({.kind = LinkFaultKind::lossy, .link = bed.uplink_of(0), .data_loss = Ratio{loss}});
        const std::uint32_t one = bed.send(0, 1, packets * 4096);
        bed.run();
        EXPECT_TRUE(bed.all_done());
        time += bed.microseconds_of(one) - path;
        lost += static_cast<double>(bed.engine.counters()[bed.nic_port(0)].losses);
        sent += static_cast<double>(bed.engine.counters()[bed.nic_port(0)].data);
    }
    return {1 - 20 * static_cast<double>(packets) * packet_us / time, lost / sent};
}

// Each loss wastes the 120.2 packets of a loop and the one that reveals it: share = 122 p / (1 + 122 p).
TEST(LossSweep, GoBackNWastesALoopPerLoss) {
    for (const auto& [loss, packets] : {std::pair{1e-5, 100'000}, std::pair{1e-4, 20'000}, std::pair{1e-3, 20'000}}) {
        const Sweep drawn = sweep(loss, packets, Switch::off);
        ASSERT_GT(drawn.loss, 0);
        const double expected = 122 * drawn.loss / (1 + 122 * drawn.loss);
        EXPECT_NEAR(drawn.lost_share / expected, 1, 0.1) << loss;
        EXPECT_NEAR(drawn.loss / loss, 1, 0.5);
    }
}

TEST(LossSweep, NoLossCostsNothing) { EXPECT_NEAR(sweep(0, 2000, Switch::off).lost_share, 0, 1e-3); }

TEST(LossSweep, RetryKeepsTheGoodput) {
    EXPECT_LT(sweep(1e-4, 20'000, Switch::on).lost_share, 0.01);
    EXPECT_LT(sweep(1e-6, 20'000, Switch::on).lost_share, 0.005);  // ACKs of the link take 8 B per 2,048 the other way
}

TEST(LossSweep, EverySizeEndsAtEveryLoss) {
    for (const Switch llr : {Switch::off, Switch::on}) {
        for (const double loss : {1e-6, 1e-4, 1e-2}) {
            for (const std::int64_t packets : {1, 100, 3000}) sweep(loss, packets, llr);
        }
    }
}

// Losses in a row: the share of lost frames stays, they come together.
TEST(LossSweep, Bursts) {
    const auto run = [](std::int64_t burst) {
        PacketSpec spec;
        spec.transport.recovery = LossRecovery::selective_repeat;
        spec.transport.timeout_exponent = 4;
        spec.transport.retries = 1000;
        PacketBed bed(fat_tree(4), spec);
        bed.engine.add_fault({.kind = LinkFaultKind::lossy, .link = bed.uplink_of(0), .data_loss = Ratio{0.01},
                              .burst = burst});
        bed.send(0, 1, 40'000 * 4096);
        bed.run();
        EXPECT_TRUE(bed.all_done());
        return static_cast<double>(bed.total().losses) / 40'000;
    };
    EXPECT_NEAR(run(1), 0.01, 0.0015);
    EXPECT_NEAR(run(8), 0.01, 0.004);
}

struct Row {
    ReedSolomon code;
    double bit_error_ratio, failure;
};

class CodewordFailure : public ::testing::TestWithParam<Row> {};

// network.md section 4.3: codeword failure at independent errors.
TEST_P(CodewordFailure, OfTheTable) {
    const Row& row = GetParam();
    EXPECT_NEAR(codeword_failure(row.code, row.bit_error_ratio).value / row.failure, 1, 0.06);
}

INSTANTIATE_TEST_SUITE_P(Codes, CodewordFailure,
                         ::testing::Values(Row{kp4, 3e-4, 2.1e-11}, Row{kp4, 2.4e-4, 8.2e-13}, Row{kp4, 1e-4, 1.4e-18},
                                           Row{kr4, 2.4e-4, 5e-5}, Row{kr4, 1e-5, 1.4e-15},
                                           Row{low_latency, 2.4e-4, 4.2e-7}, Row{low_latency, 1e-4, 5.3e-10},
                                           Row{low_latency, 1e-5, 6.5e-18}));

TEST(FrameLoss, OfAFrame) {
    const double failure = codeword_failure(kp4, 2.4e-4).value;
    EXPECT_NEAR(frame_loss(kp4, 2.4e-4, Bytes{6425}).value / failure, 11, 1e-6);  // ten codewords, eleven touched
    EXPECT_EQ(frame_loss(kp4, 0, Bytes{4160}).value, 0);
    EXPECT_EQ(frame_loss(kp4, 1, Bytes{4160}).value, 1);
    EXPECT_NEAR(frame_loss(kp4, 0.1, Bytes{4160}).value, 1, 1e-9);
}

}  // namespace
}  // namespace rehearse

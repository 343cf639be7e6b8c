// Losses and what the transport makes of them.
#include <gtest/gtest.h>

#include "tests/models/packet_fixture.hpp"

namespace rehearse {
namespace {

using testing::fat_tree;
using testing::PacketBed;

class PacketLoss : public ::testing::TestWithParam<LossRecovery> {};

// Whatever is lost, each message ends whole or as a failed queue pair; nothing hangs.
TEST_P(PacketLoss, EveryMessageEnds) {
    for (const double loss : {1e-4, 1e-3, 1e-2, 0.1}) {
        PacketSpec spec;
        spec.transport.recovery = GetParam();
        spec.transport.timeout_exponent = 4;  // 65.5 us
        spec.transport.retries = 50;
        spec.loss.data = spec.loss.control = Ratio{loss};
        PacketBed bed(fat_tree(4), spec);
        for (const std::int64_t bytes : {1, 4096, 4097, 1'000'000}) bed.send(0, 15, bytes);
        bed.run();
        EXPECT_TRUE(bed.all_done()) << loss;
        if (loss >= 1e-2) {
            EXPECT_GT(bed.total().losses, 0U);
            EXPECT_GT(bed.engine.results()[3].retransmissions, 0U);
        }
    }
}

TEST_P(PacketLoss, ADeadPathFailsAfterItsTries) {
    PacketSpec spec;
    spec.transport.recovery = GetParam();
    spec.transport.timeout_exponent = 4;
    spec.transport.retries = 7;
    spec.loss.data = Ratio{1.0};
    PacketBed bed(fat_tree(4), spec);
    const std::uint32_t one = bed.send(0, 1, 4096);
    bed.run();
    const ConnectionResult& result = bed.engine.results()[one];
    EXPECT_EQ(result.state, ConnectionState::failed);
    EXPECT_EQ(result.timeouts, 8U);
    EXPECT_NEAR(bed.microseconds_of(one), 8 * 4.096 * 16, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Recovery, PacketLoss,
                         ::testing::Values(LossRecovery::go_back_n, LossRecovery::selective_repeat));

// A lost last packet has nothing behind it that would reveal the gap: the full timeout passes.
TEST(PacketTimeout, TailLossWaits) {
    PacketSpec spec;
    spec.transport.timeout_exponent = 14;  // 67.1 ms
    spec.loss.control = Ratio{1.0};        // the only ACK is lost, and all later ones: the QP fails in the end
    spec.transport.retries = 1;
    PacketBed bed(fat_tree(4), spec);
    const std::uint32_t one = bed.send(0, 1, 4096);
    bed.run();
    EXPECT_NEAR(bed.microseconds_of(one), 2 * 4.096 * 16384, 1e-3);
}

// Selective repeat sends the missing packets only; go-back-N also what had arrived behind them.
TEST(PacketRecovery, SelectiveRepeatWastesLess) {
    const auto again = [](LossRecovery recovery) {
        PacketSpec spec;
        spec.transport.recovery = recovery;
        spec.transport.timeout_exponent = 6;
        spec.transport.retries = 20;
        spec.loss.data = Ratio{1e-3};
        PacketBed bed(fat_tree(4), spec);
        bed.send(0, 15, 40'000'000);
        bed.run();
        EXPECT_TRUE(bed.all_done());
        return bed.engine.results()[0].retransmissions;
    };
    const std::uint32_t selective = again(LossRecovery::selective_repeat), all = again(LossRecovery::go_back_n);
    EXPECT_GT(selective, 0U);
    EXPECT_GT(all, 20 * selective);
}

}  // namespace
}  // namespace rehearse

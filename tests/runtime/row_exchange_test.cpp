// Rows reach the slots of their experts, in the order of sources, with pads of zeros behind them, and come back.
#include <gtest/gtest.h>

#include <numeric>

#include "kernels/communicator/thread_ranks.hpp"
#include "runtime/live/row_exchange.hpp"

namespace rehearse {
namespace {

TEST(RowExchange, RowsStandBySlotAndSourceAndArePadded) {
    run_thread_ranks(2, [](Communicator& world) {
        RowExchange exchange(world, 2, sizeof(std::int32_t), 4);
        // To slots 0, 1 of rank 0 and 2, 3 of rank 1.
        const std::vector<std::int32_t> counts = world.rank() == 0 ? std::vector{1, 2, 0, 3} : std::vector{4, 0, 1, 0};
        exchange.plan(counts);
        std::vector<std::int32_t> sent(exchange.sent_rows());
        std::iota(sent.begin(), sent.end(), world.rank() == 0 ? 100 : 200);
        std::vector<std::int32_t> received(exchange.padded_rows(), -1);
        exchange.dispatch(std::as_bytes(std::span(sent)), std::as_writable_bytes(std::span(received)));
        if (world.rank() == 0) {
            EXPECT_EQ(received, (std::vector{100, 200, 201, 202, 203, 0, 0, 0, 101, 102, 0, 0}));
            EXPECT_EQ(exchange.received_rows(), 7u);
        } else {
            EXPECT_EQ(received, (std::vector{204, 0, 0, 0, 103, 104, 105, 0}));
            EXPECT_EQ(exchange.heights()[1], 3);
            EXPECT_EQ(exchange.padded()[1], 4);
        }
        std::vector<std::int32_t> back(sent.size(), -1);
        exchange.combine(std::as_bytes(std::span(received)), std::as_writable_bytes(std::span(back)));
        EXPECT_EQ(back, sent);
    });
}

}  // namespace
}  // namespace rehearse

// The collectives of rank threads against their definitions. The same over processes: tests/scenarios/live_mpi_test.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "kernels/communicator/thread_ranks.hpp"

namespace rehearse {
namespace {

class ThreadRanks : public testing::TestWithParam<std::uint32_t> {};

// value(rank, i): what a rank holds in place i; distinct, and small enough to sum exactly.
float value(std::uint32_t rank, std::size_t i) { return static_cast<float>(100 * (rank + 1) + i % 50); }

std::vector<float> values(std::uint32_t rank, std::size_t count) {
    std::vector<float> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = value(rank, i);
    return result;
}

float sum(std::uint32_t ranks, std::size_t i) {
    float total = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) total += value(rank, i);
    return total;
}

TEST_P(ThreadRanks, MeetReturnsTheLastArrival) {
    std::vector<Communicator::Clock::time_point> before(GetParam()), last(GetParam());
    run_thread_ranks(GetParam(), [&](Communicator& ranks) {
        for (int round = 0; round < 100; ++round) {
            before[ranks.rank()] = Communicator::Clock::now();
            last[ranks.rank()] = ranks.meet();
            EXPECT_LE(last[ranks.rank()], Communicator::Clock::now());
            ranks.meet();
        }
    });
    for (std::uint32_t rank = 0; rank < GetParam(); ++rank) {
        EXPECT_EQ(last[rank], last[0]);
        EXPECT_LE(before[rank], last[0]);
    }
}

// Part p of rank r holds r + p numbers, all of them 10 r + p; sent as they lie, received in pieces of one number.
TEST_P(ThreadRanks, AllToAllMovesPartsOfUnequalSizes) {
    const std::uint32_t n = GetParam();
    run_thread_ranks(n, [&](Communicator& ranks) {
        const std::uint32_t me = ranks.rank();
        std::vector<std::vector<float>> out(n), in(n);
        Communicator::Parts parts(n);
        Communicator::Rooms into(n);
        for (std::uint32_t p = 0; p < n; ++p) {
            out[p].assign(me + p, static_cast<float>(10 * me + p));
            in[p].assign(me + p, -1);
            parts[p] = {std::as_bytes(std::span(out[p]))};
            for (float& number : in[p]) into[p].push_back(std::as_writable_bytes(std::span(&number, 1)));
        }
        ranks.all_to_all(parts, into);
        for (std::uint32_t p = 0; p < n; ++p)
            EXPECT_EQ(in[p], std::vector<float>(me + p, static_cast<float>(10 * p + me)));
    });
}

TEST_P(ThreadRanks, SumsAndGathersHoldForEverySize) {
    const std::uint32_t n = GetParam();
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        run_thread_ranks(n, [&](Communicator& ranks) {
            const std::uint32_t me = ranks.rank();
            std::vector<float> data = values(me, count);
            ranks.all_reduce(data);
            for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(data[i], sum(n, i)) << i;

            const std::vector<float> all = values(me, count * n);
            std::vector<float> mine(count, -1);
            ranks.reduce_scatter(all, mine);
            for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(mine[i], sum(n, me * count + i)) << i;

            std::vector<float> gathered(count * n, -1);
            ranks.all_gather(std::as_bytes(std::span<const float>(values(me, count))),
                             std::as_writable_bytes(std::span(gathered)));
            for (std::size_t i = 0; i < count * n; ++i)
                ASSERT_EQ(gathered[i], value(static_cast<std::uint32_t>(i / count), i % count));
        });
    }
}

TEST_P(ThreadRanks, MessagesOfAMemberKeepTheirOrder) {
    const std::uint32_t n = GetParam();
    run_thread_ranks(n, [&](Communicator& ranks) {
        constexpr std::uint32_t count = 200;
        for (std::uint32_t i = 0; i < count; ++i) {
            for (std::uint32_t to = 0; to < n; ++to) ranks.post(to, std::as_bytes(std::span(&i, 1)));
        }
        std::vector<std::uint32_t> next(n);
        for (std::uint32_t left = count * n; left > 0;) {
            const auto message = ranks.poll();
            if (!message) continue;
            std::uint32_t number = 0;
            ASSERT_EQ(message->data.size(), sizeof number);
            std::memcpy(&number, message->data.data(), sizeof number);
            EXPECT_EQ(number, next[message->from]++);
            --left;
        }
        EXPECT_FALSE(ranks.poll());
    });
}

TEST_P(ThreadRanks, SplitGroupsByColourInRankOrder) {
    const std::uint32_t n = GetParam();
    run_thread_ranks(n, [&](Communicator& ranks) {
        const std::unique_ptr<Communicator> group = ranks.split(ranks.rank() % 2);
        EXPECT_EQ(group->size(), (n + 1 - ranks.rank() % 2) / 2);
        EXPECT_EQ(group->rank(), ranks.rank() / 2);
        std::vector<float> one{static_cast<float>(ranks.rank())};
        group->all_reduce(one);
        float expected = 0;
        for (std::uint32_t rank = ranks.rank() % 2; rank < n; rank += 2) expected += static_cast<float>(rank);
        EXPECT_EQ(one[0], expected);
    });
}

INSTANTIATE_TEST_SUITE_P(Counts, ThreadRanks, testing::Values(1u, 2u, 3u, 5u));

// A rank that fails takes the others with it, also from within a group of their own.
TEST(ThreadRanksFailure, TheFirstExceptionComesOut) {
    EXPECT_THROW(run_thread_ranks(3,
                                  [](Communicator& ranks) {
                                      const auto group = ranks.split(ranks.rank() == 0 ? 1 : 2);
                                      if (ranks.rank() == 0) throw std::domain_error("rank 0");
                                      while (true) group->meet();
                                  }),
                 std::domain_error);
}

TEST(ThreadRanksFailure, PartsThatDisagreeAreNamed) {
    EXPECT_THROW(run_thread_ranks(2,
                                  [](Communicator& ranks) {
                                      std::vector<std::byte> room(ranks.rank() + 1);
                                      const Communicator::Parts parts(2, {room});
                                      const Communicator::Rooms into(2, {room});
                                      ranks.all_to_all(parts, into);
                                  }),
                 std::logic_error);
}

}  // namespace
}  // namespace rehearse

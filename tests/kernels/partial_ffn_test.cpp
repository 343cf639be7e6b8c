#include "kernels/cpu/partial_ffn.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

constexpr std::int64_t hidden = 48, intermediate = 40;
const std::vector<std::int32_t> rows_per_expert{300, 0, 1, 517, 128};
constexpr std::int64_t rows = 946, experts = 5;

template <class T>
struct Ffn {
    std::vector<T> w_up = drawn<T>("up", experts * hidden * 2 * intermediate);
    std::vector<T> w_down = drawn<T>("down", experts * intermediate * hidden);
    std::vector<T> up = poisoned<T>(rows * 2 * intermediate), activated = poisoned<T>(rows * intermediate);
    std::vector<T> y = poisoned<T>(rows * hidden);
    ExpertWeights<T> weights{{w_up, experts, hidden, 2 * intermediate}, {w_down, experts, intermediate, hidden}};
    ExpertActivations<T> kept{{up, rows, 2 * intermediate}, {activated, rows, intermediate}};
    Matrix<T> result{y, rows, hidden};
};

// Tiles in an order drawn from `round`.
std::vector<std::int64_t> drawn_order(std::int64_t tiles, std::uint64_t round) {
    const Stream stream(seed(), "order");
    std::vector<std::pair<double, std::int64_t>> keyed;
    for (std::int64_t i = 0; i < tiles; ++i) {
        keyed.emplace_back(stream.uniform(round, static_cast<std::uint64_t>(i)), i);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::int64_t> order;
    for (const auto& entry : keyed) order.push_back(entry.second);
    return order;
}

// The input is NaN until a second thread copies a tile and marks it: reading a tile early would show in the result.
template <class T>
void check_orders(int rounds) {
    CpuContext context;
    const auto x = drawn<T>("x", rows * hidden);
    Ffn<T> full;
    expert_ffn<T>(context, rows_per_expert, {x, rows, hidden}, full.weights, full.kept, full.result);
    for (int round = 0; round < rounds; ++round) {
        Ffn<T> partial;
        ReadyTiles ready(rows_per_expert);
        auto arriving = poisoned<T>(rows * hidden);
        std::jthread sender([&] {
            for (const std::int64_t index : drawn_order(ready.tiles(), static_cast<std::uint64_t>(round))) {
                const RowTile& tile = ready.tile(index);
                std::copy_n(x.begin() + tile.first_row * hidden, tile.rows * hidden,
                            arriving.begin() + tile.first_row * hidden);
                ready.mark(index);
            }
        });
        expert_ffn_partial<T>(context, ready, rows_to_start(rows), {arriving, rows, hidden}, partial.weights,
                              partial.kept, partial.result);
        ASSERT_EQ(std::memcmp(partial.y.data(), full.y.data(), full.y.size() * sizeof(T)), 0) << "order " << round;
    }
}

TEST(PartialFfn, AnyOrderGivesTheBitsOfTheFullInputInFp32) { check_orders<float>(20); }
TEST(PartialFfn, AndInBf16) { check_orders<Bf16>(10); }

TEST(PartialFfn, TilesAreTakenOnceAndRowsCounted) {
    ReadyTiles ready(rows_per_expert);
    ASSERT_EQ(ready.tiles(), 2 + 1 + 3 + 1);
    EXPECT_EQ(rows_to_start(rows), 119);
    std::vector<std::int64_t> taken;
    ready.mark(2);  // the single row of expert 2
    ready.take(taken);
    EXPECT_EQ(taken, std::vector<std::int64_t>{2});
    ready.mark(5);  // the last 5 rows of expert 3
    EXPECT_EQ(ready.wait_for(6), 1 + 5);
    ready.take(taken);
    EXPECT_EQ(taken, std::vector<std::int64_t>{5});
    ready.take(taken);
    EXPECT_TRUE(taken.empty());
}

TEST(PartialFfn, MarksThatCannotBeAreRefused) {
    ReadyTiles ready(rows_per_expert);
    ready.mark(0);
    EXPECT_THROW(ready.mark(0), InvariantBroken);
    EXPECT_THROW(ready.mark(7), InvariantBroken);
    EXPECT_THROW(ready.mark(-1), InvariantBroken);
}

TEST(PartialFfn, NoRowsAreDoneAtOnce) {
    CpuContext context;
    const std::vector<std::int32_t> none(experts, 0);
    ReadyTiles ready(none);
    std::vector<float> nothing, w_up(experts * 2), w_down(experts);
    expert_ffn_partial<float>(context, ready, rows_to_start(0), {nothing, 0, 1},
                              {{w_up, experts, 1, 2}, {w_down, experts, 1, 1}}, {{nothing, 0, 2}, {nothing, 0, 1}},
                              {nothing, 0, 1});
}

}  // namespace
}  // namespace rehearse::kernels::test

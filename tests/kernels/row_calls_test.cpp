// The calls that products of an expert's rows are made of.
#include <gtest/gtest.h>

#include <bit>

#include "kernels/array.hpp"
#include "kernels/cpu/row_calls.hpp"

namespace rehearse::kernels {
namespace {

using Calls = std::vector<std::int64_t>;

TEST(RowCalls, ProductsGoTileByTile) {
    EXPECT_EQ(product_rows(0), Calls{});
    EXPECT_EQ(product_rows(1), Calls{16});
    EXPECT_EQ(product_rows(256), Calls{256});
    EXPECT_EQ(product_rows(600), (Calls{256, 256, 96}));
}

TEST(RowCalls, GradientsAddUpWholeTilesInOneCall) {
    EXPECT_EQ(gradient_rows(0), Calls{});
    EXPECT_EQ(gradient_rows(17), Calls{32});
    EXPECT_EQ(gradient_rows(480), Calls{480});
    EXPECT_EQ(gradient_rows(600), (Calls{512, 96}));
}

TEST(Array, BeginsOnACacheLine) {
    for (const std::size_t n : {1u, 100u, 100'000u}) {
        const Array<float> values(n);
        EXPECT_EQ(std::bit_cast<std::uintptr_t>(values.data()) % cache_line, 0u) << n;
    }
}

}  // namespace
}  // namespace rehearse::kernels

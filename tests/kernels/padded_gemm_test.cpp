// Padded products equal plain ones for every number of rows; what they write stays within its rows.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/padded_gemm.hpp"
#include "sim/base/rng.hpp"

namespace rehearse::kernels {
namespace {

constexpr std::int64_t n = 24, k = 40;

template <class T>
std::vector<T> drawn(std::size_t count, std::uint64_t entity) {
    const Stream random(3, "test.padded");
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = from_float<T>(static_cast<float>(random.normal(entity, i)));
    return values;
}

template <class T>
class PaddedGemm : public testing::Test {};
using Elements = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(PaddedGemm, Elements);

TYPED_TEST(PaddedGemm, EqualsThePlainProduct) {
    using T = TypeParam;
    CpuContext context;
    for (const std::int64_t rows : {1, 3, 15, 16, 17, 37, 256, 300}) {
        const auto a = drawn<T>(static_cast<std::size_t>(rows * k), 1),
                   b = drawn<T>(static_cast<std::size_t>(k * n), 2);
        const T poison = from_float<T>(NAN);
        std::vector<T> padded(static_cast<std::size_t>(rows * n), poison), plain = padded;
        padded_gemm<T>(context, Matrix<const T>(a, rows, k), Matrix<const T>(b, k, n), Matrix<T>(padded, rows, n),
                       Transposed::none);
        gemm(context, Matrix<const T>(a, rows, k), Matrix<const T>(b, k, n), Matrix<T>(plain, rows, n));
        for (std::size_t i = 0; i < plain.size(); ++i)
            ASSERT_NEAR(to_float(padded[i]), to_float(plain[i]), 1e-2f * 8) << rows << " " << i;
    }
}

TYPED_TEST(PaddedGemm, GradientsAddUpOverAllRows) {
    using T = TypeParam;
    CpuContext context;
    for (const std::int64_t rows : {1, 16, 37, 255, 256, 300, 531}) {
        const auto x = drawn<T>(static_cast<std::size_t>(rows * k), 3),
                   dy = drawn<T>(static_cast<std::size_t>(rows * n), 4);
        for (const Write write : {Write::replace, Write::accumulate}) {
            std::vector<float> padded(static_cast<std::size_t>(k * n), 1.0f), plain = padded;
            padded_gradient<T>(context, Matrix<const T>(x, rows, k), Matrix<const T>(dy, rows, n),
                               Matrix<float>(padded, k, n), write);
            gemm(context, Matrix<const T>(x, rows, k), Matrix<const T>(dy, rows, n), Matrix<float>(plain, k, n),
                 Transposed::left, write);
            for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(padded[i], plain[i], 2e-3f) << rows << " " << i;
        }
    }
}

}  // namespace
}  // namespace rehearse::kernels

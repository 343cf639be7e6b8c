#include "kernels/cpu/elementwise.hpp"

#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

const std::int64_t lengths[] = {0, 1, 3, 17, 127, 4096, 4097, 10001};

template <class T>
void check_length(std::int64_t n) {
    CpuContext context;
    const auto a = drawn<T>("a", n), b = drawn<T>("b", n), c = drawn<T>("c", n);
    const auto exact = [](const T& value) { return double{to_float(value)}; };
    auto out = poisoned<T>(n);
    copy<T>(context, a, out);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(to_float(out[i]), to_float(a[i]));

    out = poisoned<T>(n);
    scale_add<T>(context, a, b, 0.75f, out);
    expect_close<T>(out, [&](std::int64_t i) {
        Exact sum;
        sum.add(exact(a[i])), sum.add(0.75 * exact(b[i]));
        return sum;
    });

    const std::vector<std::span<const T>> buffers{a, b, c};
    out = poisoned<T>(n);
    sum_buffers<T>(context, buffers, out);
    expect_close<T>(out, [&](std::int64_t i) {
        Exact sum;
        sum.add(exact(a[i])), sum.add(exact(b[i])), sum.add(exact(c[i]));
        return sum;
    });
}

TEST(Elementwise, CopyTriadAndSumInFp32) {
    for (const std::int64_t n : lengths) check_length<float>(n);
}
TEST(Elementwise, CopyTriadAndSumInBf16) {
    for (const std::int64_t n : lengths) check_length<Bf16>(n);
}

// 256 values of 1 + 2^-7: rounded to bf16 after each addition the sum would stall, in fp32 it does not.
TEST(Elementwise, SumsOfBf16AreAddedUpInFp32) {
    CpuContext context;
    const std::vector<Bf16> ones(3, from_float<Bf16>(1.0f));
    const std::vector<std::span<const Bf16>> buffers(512, std::span<const Bf16>(ones));
    auto out = poisoned<Bf16>(3);
    sum_buffers<Bf16>(context, buffers, out);
    for (const Bf16 value : out) EXPECT_EQ(to_float(value), 512.0f);
}

template <class T>
void check_norm(std::int64_t rows, std::int64_t hidden) {
    CpuContext context;
    const auto x = drawn<T>("x", rows * hidden), scale = drawn<T>("scale", hidden);
    auto y = poisoned<T>(rows * hidden);
    rms_norm<T>(context, {x, rows, hidden}, scale, {y, rows, hidden});
    expect_close<T>(y, [&](std::int64_t i) {
        double squares = 0;
        for (std::int64_t k = 0; k < hidden; ++k) squares += std::pow(to_float(x[i / hidden * hidden + k]), 2.0);
        Exact value;
        value.add(to_float(x[i]) * double{to_float(scale[i % hidden])} /
                  std::sqrt(squares / static_cast<double>(hidden) + 1e-6));
        return value;
    });
}

TEST(RmsNorm, DividesByTheRootMeanSquare) {
    for (const std::int64_t hidden : {1, 3, 17, 127, 1024}) check_norm<float>(5, hidden), check_norm<Bf16>(5, hidden);
}

TEST(Elementwise, WrongLengthsAreRefused) {
    CpuContext context;
    std::vector<float> a(4), b(5);
    EXPECT_THROW(copy<float>(context, a, b), InvariantBroken);
    EXPECT_THROW(scale_add<float>(context, a, b, 1.0f, a), InvariantBroken);
    EXPECT_THROW(sum_buffers<float>(context, {}, a), InvariantBroken);
    EXPECT_THROW(rms_norm<float>(context, {a, 2, 2}, b, {a, 2, 2}), InvariantBroken);
}

TEST(Element, Bf16AndFp16RoundToNearestEven) {
    EXPECT_EQ(from_float<Bf16>(1.0f + 0x1p-8f).bits, 0x3f80);          // half way: to even
    EXPECT_EQ(from_float<Bf16>(1.0f + 3 * 0x1p-8f).bits, 0x3f82);      // half way: to even, upwards
    EXPECT_EQ(from_float<Fp16>(1.0f + 0x1p-11f).bits, 0x3c00);
    EXPECT_EQ(from_float<Fp16>(65520.0f).bits, 0x7c00);
    EXPECT_EQ(from_float<Fp16>(65519.0f).bits, 0x7bff);
    EXPECT_EQ(from_float<Fp16>(0x1p-24f).bits, 1);
    EXPECT_TRUE(std::isnan(to_float(not_a_number<Bf16>())) && std::isnan(to_float(not_a_number<Fp16>())));
    for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
        const Fp16 half{static_cast<std::uint16_t>(bits)};
        ASSERT_EQ(from_float<Fp16>(to_float(half)).bits, half.bits);
    }
}

}  // namespace
}  // namespace rehearse::kernels::test

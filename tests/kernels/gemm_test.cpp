#include "kernels/cpu/gemm.hpp"

#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

struct Shape {
    std::int64_t m, n, k;
};

const Shape shapes[] = {{1, 1, 1}, {3, 17, 5}, {17, 127, 33}, {127, 3, 129}, {64, 96, 128}, {1, 31, 257}};

// C = op(A) op(B) [+ C0], each element against the fp64 sum.
template <class In, class Out>
void check_gemm(const Shape& s, Transposed transposed, Write write, int threads) {
    CpuContext context(threads);
    const auto a = drawn<In>("a", s.m * s.k), b = drawn<In>("b", s.k * s.n);
    const auto before = drawn<Out>("c", s.m * s.n);
    auto c = write == Write::accumulate ? before : poisoned<Out>(s.m * s.n);
    const bool left = transposed == Transposed::left, right = transposed == Transposed::right;
    gemm(context, Matrix<const In>(a, left ? s.k : s.m, left ? s.m : s.k),
         Matrix<const In>(b, right ? s.n : s.k, right ? s.k : s.n), Matrix<Out>(c, s.m, s.n), transposed, write);
    const ExactGemm exact{s.m, s.n, s.k, left, right};
    expect_close<Out>(c, [&](std::int64_t i) {
        Exact sum = exact.at(a.data(), b.data(), i / s.n, i % s.n);
        if (write == Write::accumulate) sum.add(to_float(before[static_cast<std::size_t>(i)]));
        return sum;
    });
}

template <class In, class Out>
void check_all() {
    for (const Shape& shape : shapes) {
        for (const Transposed transposed : {Transposed::none, Transposed::left, Transposed::right}) {
            for (const Write write : {Write::replace, Write::accumulate}) {
                SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.n << " x " << shape.k << ", form "
                                                << static_cast<int>(transposed) << static_cast<int>(write));
                check_gemm<In, Out>(shape, transposed, write, 1);
            }
        }
    }
}

TEST(Gemm, ThreeFormsInFp32) { check_all<float, float>(); }
TEST(Gemm, ThreeFormsInBf16ToFp32) { check_all<Bf16, float>(); }
TEST(Gemm, ThreeFormsInBf16) { check_all<Bf16, Bf16>(); }

// The backward of a linear layer over no rows: dW is 0, not what was there.
TEST(Gemm, AnInnerExtentOfZeroGivesZero) {
    CpuContext context;
    const std::vector<float> nothing;
    auto c = poisoned<float>(6);
    gemm(context, {nothing, 0, 2}, {nothing, 0, 3}, Matrix<float>(c, 2, 3), Transposed::left);
    EXPECT_EQ(c, std::vector<float>(6, 0.0f));
    c.assign(6, 4.0f);
    gemm(context, {nothing, 0, 2}, {nothing, 0, 3}, Matrix<float>(c, 2, 3), Transposed::left, Write::accumulate);
    EXPECT_EQ(c, std::vector<float>(6, 4.0f));
}

TEST(Gemm, ShapesThatDoNotFitAreNamed) {
    CpuContext context;
    std::vector<float> a(6), b(6), c(4);
    EXPECT_THROW(Matrix<float>(a, 2, 2), InvariantBroken);
    EXPECT_THROW(Matrix<float>(a, -2, -3), InvariantBroken);
    try {
        gemm(context, {a, 2, 3}, {b, 2, 3}, Matrix<float>(c, 2, 2));
        FAIL();
    } catch (const InvariantBroken& broken) {
        EXPECT_NE(std::string(broken.what()).find("A is 2 x 3, B is 2 x 3, C is 2 x 2"), std::string::npos);
    }
    EXPECT_THROW(CpuContext(0), InvariantBroken);
}

}  // namespace
}  // namespace rehearse::kernels::test

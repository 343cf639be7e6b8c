#include "kernels/cpu/expert_ffn.hpp"

#include <numeric>

#include "kernels/math.hpp"
#include "tests/kernels/reference.hpp"

namespace rehearse::kernels::test {
namespace {

struct Ffn {
    std::vector<std::int32_t> rows_per_expert;
    std::int64_t hidden, intermediate;

    std::int64_t experts() const { return static_cast<std::int64_t>(rows_per_expert.size()); }
    std::int64_t rows() const { return std::accumulate(rows_per_expert.begin(), rows_per_expert.end(), 0); }
    std::int64_t expert_of(std::int64_t row) const {
        std::int64_t expert = 0;
        while (row >= rows_per_expert[static_cast<std::size_t>(expert)]) row -= rows_per_expert[expert++];
        return expert;
    }
};

const Ffn cases[] = {{{1}, 1, 1}, {{3, 0, 17}, 5, 7}, {{0, 129, 1}, 33, 17}, {{300, 20}, 64, 48}};

double silu(double g) { return g / (1 + std::exp(-g)); }

template <class T>
void check_grouped(const Ffn& f) {
    CpuContext context;
    const std::int64_t k = f.hidden, n = 2 * f.intermediate;
    const auto a = drawn<T>("a", f.rows() * k), w = drawn<T>("w", f.experts() * k * n);
    auto c = poisoned<T>(f.rows() * n);
    grouped_gemm<T>(context, f.rows_per_expert, {a, f.rows(), k}, {w, f.experts(), k, n}, {c, f.rows(), n});
    expect_close<T>(c, [&](std::int64_t i) {
        return ExactGemm{f.rows(), n, k}.at(a.data(), &w[f.expert_of(i / n) * k * n], i / n, i % n);
    });
    auto back = poisoned<T>(f.rows() * k);
    grouped_gemm<T>(context, f.rows_per_expert, {c, f.rows(), n}, {w, f.experts(), k, n}, {back, f.rows(), k},
                    Transposed::right);
    expect_close<T>(back, [&](std::int64_t i) {
        return ExactGemm{f.rows(), k, n, false, true}.at(c.data(), &w[f.expert_of(i / k) * k * n], i / k, i % k);
    });
    auto d_w = poisoned<float>(f.experts() * k * n);
    grouped_weight_gradient<T>(context, f.rows_per_expert, {a, f.rows(), k}, {c, f.rows(), n},
                               {d_w, f.experts(), k, n}, Write::replace);
    expect_close<float>(d_w, [&](std::int64_t i) {
        Exact sum;
        for (std::int64_t r = 0; r < f.rows(); ++r) {
            if (f.expert_of(r) != i / (k * n)) continue;
            sum.add(double{to_float(a[r * k + i / n % k])} * to_float(c[r * n + i % n]));
        }
        return sum;
    });
}

TEST(ExpertFfn, GroupedGemmAndItsGradients) {
    for (const Ffn& f : cases) check_grouped<float>(f), check_grouped<Bf16>(f);
}

template <class T>
void check_swiglu(std::int64_t rows, std::int64_t width) {
    CpuContext context;
    const auto up = drawn<T>("up", rows * 2 * width), d_a = drawn<T>("da", rows * width);
    const auto g = [&](std::int64_t i) { return double{to_float(up[i / width * 2 * width + i % width])}; };
    const auto u = [&](std::int64_t i) { return double{to_float(up[i / width * 2 * width + width + i % width])}; };
    auto activated = poisoned<T>(rows * width);
    swiglu<T>(context, {up, rows, 2 * width}, {activated, rows, width});
    expect_close<T>(activated, [&](std::int64_t i) {
        Exact value;
        value.add(silu(g(i)) * u(i));
        return value;
    });
    auto d_up = poisoned<T>(rows * 2 * width);
    swiglu_backward<T>(context, {d_a, rows, width}, {up, rows, 2 * width}, {d_up, rows, 2 * width});
    expect_close<T>(d_up, [&](std::int64_t k) {
        const std::int64_t i = k / (2 * width) * width + k % width;
        const double s = 1 / (1 + std::exp(-g(i))), da = to_float(d_a[i]);
        Exact value;
        if (k % (2 * width) >= width) value.add(da * silu(g(i)));
        else value.add(da * u(i) * s), value.add(da * u(i) * g(i) * s * (1 - s));
        return value;
    });
}

TEST(ExpertFfn, SwigluAndItsGradient) {
    for (const std::int64_t width : {1, 3, 17, 127, 512}) check_swiglu<float>(5, width), check_swiglu<Bf16>(5, width);
}

// The whole against its pieces: the same numbers, forward and backward.
template <class T>
struct Layer {
    explicit Layer(const Ffn& ffn) : f(ffn) {}
    Matrix<const T> input(const std::vector<T>& values, std::int64_t cols) const { return {values, f.rows(), cols}; }
    Matrix<T> output(std::vector<T>& values, std::int64_t cols) const { return {values, f.rows(), cols}; }

    Ffn f;
    std::int64_t h = f.hidden, i = f.intermediate, e = f.experts();
    std::vector<T> x = drawn<T>("x", f.rows() * h), d_y = drawn<T>("dy", f.rows() * h);
    std::vector<T> w_up = drawn<T>("up", e * h * 2 * i), w_down = drawn<T>("down", e * i * h);
    std::vector<T> up = poisoned<T>(f.rows() * 2 * i), activated = poisoned<T>(f.rows() * i);
    std::vector<T> y = poisoned<T>(f.rows() * h);
    ExpertWeights<T> weights{{w_up, e, h, 2 * i}, {w_down, e, i, h}};
    ExpertActivations<T> kept{output(up, 2 * i), output(activated, i)};
};

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check_whole(const Ffn& f) {
    CpuContext context;
    Layer<T> whole(f), pieces(f);
    expert_ffn<T>(context, f.rows_per_expert, whole.input(whole.x, f.hidden), whole.weights, whole.kept,
                  whole.output(whole.y, f.hidden));
    grouped_gemm<T>(context, f.rows_per_expert, pieces.input(pieces.x, f.hidden), pieces.weights.up, pieces.kept.up);
    swiglu<T>(context, pieces.kept.up, pieces.kept.activated);
    grouped_gemm<T>(context, f.rows_per_expert, pieces.kept.activated, pieces.weights.down,
                    pieces.output(pieces.y, f.hidden));
    EXPECT_TRUE(same(whole.up, pieces.up));
    EXPECT_TRUE(same(whole.activated, pieces.activated));
    EXPECT_TRUE(same(whole.y, pieces.y));
    expect_close<T>(whole.y, [&](std::int64_t k) {
        return ExactGemm{f.rows(), f.hidden, f.intermediate}.at(
            whole.activated.data(), &whole.w_down[f.expert_of(k / f.hidden) * f.intermediate * f.hidden], k / f.hidden,
            k % f.hidden);
    });
}

TEST(ExpertFfn, WholeIsItsPiecesBitForBit) {
    for (const Ffn& f : cases) check_whole<float>(f), check_whole<Bf16>(f);
}

// dx of L = <dy, y> against a central difference along a random direction, in fp32 with a tolerance of its step.
TEST(ExpertFfn, BackwardIsTheDerivative) {
    CpuContext context;
    const Ffn f{{5, 0, 9}, 12, 8};
    Layer<float> layer(f);
    const auto forward = [&](const std::vector<float>& x) {
        expert_ffn<float>(context, f.rows_per_expert, layer.input(x, 12), layer.weights, layer.kept,
                          layer.output(layer.y, 12));
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += double{layer.y[i]} * layer.d_y[i];
        return sum;
    };
    const auto direction = drawn<float>("direction", f.rows() * 12);
    const auto moved = [&](float step) {
        std::vector<float> x = layer.x;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * direction[i];
        return forward(x);
    };
    const double numeric = (moved(1e-3f) - moved(-1e-3f)) / 2e-3;
    forward(layer.x);
    auto d_activated = poisoned<float>(f.rows() * 8), d_up = poisoned<float>(f.rows() * 16),
         d_x = poisoned<float>(f.rows() * 12), d_w_up = poisoned<float>(3 * 12 * 16),
         d_w_down = poisoned<float>(3 * 8 * 12);
    expert_ffn_backward<float>(context, f.rows_per_expert, layer.input(layer.d_y, 12), layer.input(layer.x, 12),
                               layer.weights, layer.kept,
                               {layer.output(d_activated, 8), layer.output(d_up, 16), layer.output(d_x, 12),
                                {d_w_up, 3, 12, 16}, {d_w_down, 3, 8, 12}},
                               Write::replace);
    double analytic = 0, scale = 0;
    for (std::size_t i = 0; i < d_x.size(); ++i) {
        analytic += double{d_x[i]} * direction[i];
        scale += std::abs(double{d_x[i]} * direction[i]);
    }
    EXPECT_NEAR(analytic, numeric, 1e-3 * scale);
    // Euler: y is linear in W_down, so <W_down, dW_down> = <y, dy>.
    double euler = 0;
    for (std::size_t i = 0; i < d_w_down.size(); ++i) euler += double{d_w_down[i]} * layer.w_down[i];
    EXPECT_NEAR(euler, forward(layer.x), 1e-4 * std::abs(scale));
    for (int i = 12 * 16; i < 2 * 12 * 16; ++i) ASSERT_EQ(d_w_up[i], 0.0f);  // the expert without rows
}

TEST(ExpertFfn, CountsThatDoNotAddUpAreRefused) {
    CpuContext context;
    const std::vector<float> a(4 * 3), w(2 * 3 * 5);
    std::vector<float> c(4 * 5);
    for (const auto& counts : {std::vector<std::int32_t>{1, 2}, {5, -1}, {4}}) {
        EXPECT_THROW(grouped_gemm<float>(context, counts, {a, 4, 3}, {w, 2, 3, 5}, {c, 4, 5}), InvariantBroken);
    }
}

TEST(Math, ExponentialIsWithinTwoUnitsInTheLastPlace) {
    for (double x = -86.6; x < 88.7; x += 0.0137) {
        const float argument = static_cast<float>(x);
        const double exact = std::exp(double{argument});
        ASSERT_NEAR(exponential(argument), exact, 2 * 0x1p-23 * exact) << x;
    }
    EXPECT_EQ(exponential(-INFINITY), 0.0f);
    EXPECT_EQ(exponential(INFINITY), INFINITY);
    EXPECT_TRUE(std::isnan(exponential(not_a_number<float>())));
}

TEST(Math, SigmoidIsRightToRoundingAndHoldsItsLimits) {
    for (float x = -80; x < 80; x += 0.0137f) {
        const double exact = 1 / (1 + std::exp(-double{x}));
        ASSERT_NEAR(sigmoid(x), exact, 5 * 0x1p-23 * exact) << x;
    }
    EXPECT_LT(sigmoid(-INFINITY), 1e-37f);
    EXPECT_EQ(sigmoid(INFINITY), 1.0f);
    EXPECT_TRUE(std::isnan(sigmoid(not_a_number<float>())));
}

}  // namespace
}  // namespace rehearse::kernels::test

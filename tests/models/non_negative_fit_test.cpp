// Non-negative least squares against all subsets of its coefficients, and the surface of matrix products on top of it.
#include "models/compute/non_negative_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "models/compute/gemm_surface.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

using Rows = std::vector<std::vector<double>>;

double squared_error(const Rows& rows, const std::vector<double>& b, const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        double error = -b[i];
        for (std::size_t j = 0; j < x.size(); ++j) error += rows[i][j] * x[j];
        sum += error * error;
    }
    return sum;
}

// The minimum over the coefficients of `mask`, by elimination on the normal equations; nothing where they are singular.
std::vector<double> minimum_over(const Rows& rows, const std::vector<double>& b, std::size_t mask) {
    std::vector<std::size_t> chosen;
    for (std::size_t j = 0; j < rows.front().size(); ++j)
        if ((mask >> j & 1) != 0) chosen.push_back(j);
    const std::size_t size = chosen.size();
    Rows system(size, std::vector<double>(size + 1, 0.0));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t r = 0; r < size; ++r) {
            for (std::size_t c = 0; c < size; ++c) system[r][c] += rows[i][chosen[r]] * rows[i][chosen[c]];
            system[r][size] += rows[i][chosen[r]] * b[i];
        }
    for (std::size_t r = 0; r < size; ++r)
        for (std::size_t below = r + 1; below < size; ++below) {
            const double factor = system[below][r] / system[r][r];
            for (std::size_t c = r; c <= size; ++c) system[below][c] -= factor * system[r][c];
        }
    std::vector<double> x(rows.front().size(), 0.0);
    for (std::size_t r = size; r-- > 0;) {
        double right = system[r][size];
        for (std::size_t c = r + 1; c < size; ++c) right -= system[r][c] * x[chosen[c]];
        x[chosen[r]] = right / system[r][r];
    }
    return x;
}

// The least error over all choices of coefficients that may be positive: the definition, exponential in their number.
double least_error(const Rows& rows, const std::vector<double>& b) {
    double best = squared_error(rows, b, std::vector<double>(rows.front().size(), 0.0));
    for (std::size_t mask = 1; mask < std::size_t{1} << rows.front().size(); ++mask) {
        const std::vector<double> x = minimum_over(rows, b, mask);
        if (std::ranges::all_of(x, [](double coefficient) { return coefficient >= 0; }))
            best = std::min(best, squared_error(rows, b, x));
    }
    return best;
}

TEST(NonNegativeFit, AgreesWithAllSubsets) {
    const Stream stream(7, "non-negative fit");
    std::uint64_t draws = 0;
    const auto normal = [&] { return stream.normal(0, ++draws); };
    const auto below = [&](double most) { return static_cast<std::size_t>(most * stream.uniform(1, ++draws)); };
    int bounded = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const std::size_t columns = 1 + below(6), count = columns + 2 + below(10);
        Rows rows(count, std::vector<double>(columns));
        std::vector<double> b(count);
        for (std::vector<double>& row : rows)
            for (double& figure : row) figure = normal();
        for (double& target : b) target = normal();
        const std::vector<double> x = fit_non_negative(rows, b);
        for (const double coefficient : x) {
            EXPECT_GE(coefficient, 0);
            bounded += coefficient == 0 ? 1 : 0;
        }
        EXPECT_NEAR(squared_error(rows, b, x), least_error(rows, b), 1e-8) << "trial " << trial;
        for (std::vector<double>& row : rows) row.back() *= 1e9;  // units of a column don't matter
        std::vector<double> other = fit_non_negative(rows, b);
        EXPECT_NEAR(other.back() * 1e9, x.back(), 1e-8);
    }
    EXPECT_GT(bounded, 100);  // the bound matters in these systems
}

TEST(NonNegativeFit, RefusesWhatHasNoMinimum) {
    EXPECT_THROW(fit_non_negative({}, {}), InvariantBroken);
    EXPECT_THROW(fit_non_negative({{1, 2}, {1}}, {1, 2}), InvariantBroken);
    EXPECT_THROW(fit_non_negative({{1}}, {std::numeric_limits<double>::quiet_NaN()}), InvariantBroken);
    EXPECT_THROW(fit_non_negative_relative({{1}}, {0}), InvariantBroken);
    EXPECT_EQ(fit_non_negative({{0}, {0}}, {1, 1}), std::vector{0.0});  // a column of zeros gains nothing
}

std::vector<GemmPoint> made_by(const GemmSurface& truth) {
    std::vector<GemmPoint> points;
    for (const std::int64_t m : {1, 64, 1000, 4096})
        for (const std::int64_t n : {128, 3000})
            for (const std::int64_t k : {64, 512, 4096})
                points.push_back({2, m, n, k, gemm_seconds(truth, 2, m, n, k)});
    return points;
}

// t = 5 us + 2 (2 m n k / 700 TFLOP/s + ...): the coefficients come back, a zero as zero.
TEST(GemmSurface, RecoversItsCoefficients) {
    const GemmSurface truth{5e-6, 1 / 700e12, 2e-13, 0, 6e-13};
    const GemmSurface found = fit_gemm_surface(made_by(truth));
    EXPECT_NEAR(found.launch / truth.launch, 1, 1e-6);
    EXPECT_NEAR(found.flop / truth.flop, 1, 1e-6);
    EXPECT_NEAR(found.result / truth.result, 1, 1e-6);
    EXPECT_NEAR(found.right / truth.right, 1, 1e-6);
    EXPECT_LT(found.left, 1e-18);
    for (const double error : gemm_errors(found, made_by(truth))) EXPECT_NEAR(error, 0, 1e-8);
}

// By hand: 2 products of 3 x 4 by 4 x 5 are 240 operations, 30 elements of C, 24 of A and 40 of B.
TEST(GemmSurface, CountsEveryTermPerProduct) {
    EXPECT_DOUBLE_EQ(gemm_seconds({1, 0, 0, 0, 0}, 2, 3, 5, 4), 1);
    EXPECT_DOUBLE_EQ(gemm_seconds({0, 1, 0, 0, 0}, 2, 3, 5, 4), 240);
    EXPECT_DOUBLE_EQ(gemm_seconds({0, 0, 1, 0, 0}, 2, 3, 5, 4), 30);
    EXPECT_DOUBLE_EQ(gemm_seconds({0, 0, 0, 1, 0}, 2, 3, 5, 4), 24);
    EXPECT_DOUBLE_EQ(gemm_seconds({0, 0, 0, 0, 1}, 2, 3, 5, 4), 40);
    const std::vector<GemmPoint> flat{{1, 0, 1, 1, 1.0}};
    EXPECT_THROW(fit_gemm_surface(flat), InvariantBroken);
}

}  // namespace
}  // namespace rehearse

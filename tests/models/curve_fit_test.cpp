// Curves through measured sizes and times: they return what made them, and keep their ends.
#include "models/calibration/curve_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

std::vector<double> sizes() {
    std::vector<double> sizes;
    for (double size = 8; size <= 1 << 30; size *= 2) sizes.push_back(size);
    return sizes;
}

// 5 us + size / 100 GB/s.
TEST(CurveFit, AlphaBetaOfALine) {
    std::vector<CurvePoint> points;
    for (const double size : sizes()) points.push_back({size, 5e-6 + size / 100e9});
    const AlphaBeta line = fit_alpha_beta(points);
    EXPECT_NEAR(line.latency_s, 5e-6, 1e-11);
    EXPECT_NEAR(1 / line.seconds_per_byte, 100e9, 1e5);
    EXPECT_LT(summarise_residuals(curve_residuals(line, std::span<const CurvePoint>(points))).worst, 1e-6);
}

// A time that falls with size has no line with costs: the latency stays, the slope is zero.
TEST(CurveFit, AlphaBetaIsNeverNegative) {
    const std::array<CurvePoint, 3> points{{{1e3, 3e-6}, {1e4, 2e-6}, {1e5, 1e-6}}};
    const AlphaBeta line = fit_alpha_beta(points);
    EXPECT_EQ(line.seconds_per_byte, 0);
    EXPECT_GT(line.latency_s, 1e-6);
}

// Constant up to 64 KiB, then a power of 1/2 up to 16 MiB, then the rate: three straight pieces in logarithms.
TEST(CurveFit, PiecewiseFindsTheKnots) {
    const double low = 1 << 16, high = 1 << 24;
    const auto truth = [&](double size) {
        if (size <= low) return 1e-5;
        if (size <= high) return 1e-5 * std::sqrt(size / low);
        return 1e-5 * std::sqrt(high / low) * size / high;
    };
    std::vector<CurvePoint> points;
    for (const double size : sizes()) points.push_back({size, truth(size)});
    const PiecewiseCurve curve = fit_piecewise(points, {});
    ASSERT_EQ(curve.knots.size(), 4U);
    EXPECT_NEAR(curve.knots[1].bytes, low, 1);
    EXPECT_NEAR(curve.knots[2].bytes, high, 1);
    EXPECT_LT(summarise_residuals(curve_residuals(curve, std::span<const CurvePoint>(points))).worst, 1e-9);
    EXPECT_NEAR(seconds_at(curve, 1), 1e-5, 1e-15);                              // below: the time
    EXPECT_NEAR(seconds_at(curve, 1LL << 34) / (16 * truth(1 << 30)), 1, 1e-9);  // above: the rate
}

// One size measured four times too long: the curve stays with the others.
TEST(CurveFit, PiecewiseStaysWithTheManyAtAnOutlier) {
    std::vector<CurvePoint> points;
    for (const double size : sizes()) points.push_back({size, 5e-6 + size / 100e9});
    points[5].seconds *= 4;
    const PiecewiseCurve curve = fit_piecewise(points, {.knots_max = 6, .error_wanted = 0.001});
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double truth = 5e-6 + points[i].bytes / 100e9;
        EXPECT_NEAR(seconds_at(curve, points[i].bytes) / truth, 1, 0.1) << points[i].bytes;
    }
}

// Never more knots than asked for, and each knot more fits better.
TEST(CurveFit, MoreKnotsFitBetter) {
    std::vector<CurvePoint> points;
    int turn = 0;
    for (const double size : sizes()) points.push_back({size, (5e-6 + size / 100e9) * (++turn % 3 == 0 ? 1.2 : 1)});
    double before = 10;
    for (const std::size_t most : {2U, 4U, 8U}) {
        const PiecewiseCurve curve = fit_piecewise(points, {.knots_max = most, .error_wanted = 0});
        EXPECT_EQ(curve.knots.size(), most);
        const double mean = summarise_residuals(curve_residuals(curve, std::span<const CurvePoint>(points))).mean;
        EXPECT_LT(mean, before);
        before = mean;
    }
}

TEST(CurveFit, RefusesOneSize) {
    const std::array<CurvePoint, 2> one{{{1e3, 3e-6}, {1e3, 4e-6}}};
    EXPECT_THROW(fit_alpha_beta(one), InvariantBroken);
    EXPECT_THROW(fit_piecewise(one, {}), InvariantBroken);
    const std::array<CurvePoint, 3> zero{{{0, 3e-6}, {1e3, 4e-6}, {1e4, 5e-6}}};
    EXPECT_EQ(fit_piecewise(zero, {}).knots.size(), 2U);  // zero bytes have no place on a logarithmic scale
}

}  // namespace
}  // namespace rehearse

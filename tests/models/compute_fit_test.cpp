// Fits of a line y = a + b x with known answers, bounds and outliers.
#include "models/compute/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rehearse {
namespace {

const std::vector<FitParameter> line{{"a", 0.5, 0, 10, ""}, {"b", 0.5, 0, 10, ""}};

ResidualFunction residuals_of(std::vector<double> y) {
    return [y](const std::vector<double>& v) {
        std::vector<double> r;
        for (std::size_t i = 0; i < y.size(); ++i) r.push_back(v[0] + v[1] * static_cast<double>(i) - y[i]);
        return r;
    };
}

TEST(FitBounded, RecoversAnExactLine) {
    const auto r = residuals_of({2, 5, 8, 11, 14});
    const FitResult fit = fit_bounded(line, r, r, {});
    EXPECT_NEAR(fit.values[0], 2, 1e-4);
    EXPECT_NEAR(fit.values[1], 3, 1e-4);
    EXPECT_LT(fit.cost, 1e-8);
}

TEST(FitBounded, StopsAtABound) {
    const auto r = residuals_of({-2, 1, 4, 7, 10});  // a = -2 lies outside 0..10
    FitOptions options;
    options.loss_scale = 100;  // practically least squares
    options.iterations = 50;
    const FitResult fit = fit_bounded(line, r, r, options);
    EXPECT_NEAR(fit.values[0], 0, 1e-6);
    // Least squares through the origin: sum x y / sum x^2 = (1 + 8 + 21 + 40) / 30.
    EXPECT_NEAR(fit.values[1], 70.0 / 30.0, 1e-3);
}

TEST(FitBounded, AnOutlierCountsLinearly) {
    std::vector<double> y{2, 5, 8, 11, 14, 17, 20, 23};
    y[3] += 30;
    FitOptions options;
    options.loss_scale = 0.1;
    options.iterations = 60;
    options.cost_tolerance = 1e-9;
    const FitResult fit = fit_bounded(line, residuals_of(y), residuals_of(y), options);
    EXPECT_NEAR(fit.values[0], 2, 0.2);
    EXPECT_NEAR(fit.values[1], 3, 0.1);
}

TEST(FitBounded, AParameterThatNothingDeterminesHasNoError) {
    const ResidualFunction r = [](const std::vector<double>& v) { return std::vector<double>{v[0] - 4, v[0] - 4}; };
    const FitResult fit = fit_bounded(line, r, r, {});
    EXPECT_NEAR(fit.values[0], 4, 1e-4);
    EXPECT_TRUE(std::isinf(fit.standard_errors[1]));
}

}  // namespace
}  // namespace rehearse

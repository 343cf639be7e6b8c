// Curves through measured (bytes, seconds) of one collective or kernel on one set of devices.
//
//   alpha-beta   t = latency + bytes seconds_per_byte, both >= 0: least squares of relative errors
//   piecewise    log t is linear in log bytes between a few knots, fitted on log errors with a loss that hardly
//                counts outliers (Cauchy's, 5 %: cold starts, interrupted sizes). Knots lie on measured
//                sizes: one more at a time, each moved to where the error is least, until it stays under
//                `error_wanted` or no knot is left. Below the first knot the time is constant, above the last the rate.
//
//     PiecewiseCurve curve = fit_piecewise(points, {});
//     double t = seconds_at(curve, 3 << 20), bus = factor * bytes / t;   // collective.hpp has the factor
//
// The first says what a wire and a launch cost, the second keeps what protocols and caches do to the rate in between.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rehearse {

struct CurvePoint {
    double bytes = 0, seconds = 0;
};

struct CurveError {  // of |predicted / measured - 1|
    double mean = 0, worst = 0;
};

struct AlphaBeta {
    double latency_s = 0, seconds_per_byte = 0;
};
// InvariantBroken where fewer than two sizes, a size < 0 or no time is given.
AlphaBeta fit_alpha_beta(std::span<const CurvePoint> points);
double seconds_at(const AlphaBeta& line, double bytes);

struct PiecewiseCurve {
    std::vector<CurvePoint> knots;  // by size
};
struct PiecewiseOptions {
    std::size_t knots_max = 8;
    double error_wanted = 0.01;  // root of the mean loss; of small log errors their root mean square
};
// Points of size zero are left out. InvariantBroken where fewer than two sizes above zero or a time <= 0 are given.
PiecewiseCurve fit_piecewise(std::span<const CurvePoint> points, const PiecewiseOptions& options);
double seconds_at(const PiecewiseCurve& curve, double bytes);

template <class Curve>
std::vector<double> curve_residuals(const Curve& curve, std::span<const CurvePoint> points) {
    std::vector<double> errors;
    for (const CurvePoint& p : points) errors.push_back(seconds_at(curve, p.bytes) / p.seconds - 1);
    return errors;
}
CurveError summarise_residuals(std::span<const double> residuals);

}  // namespace rehearse

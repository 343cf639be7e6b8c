#include "models/calibration/curve_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

#include "models/compute/non_negative_fit.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

struct LogPoint {
    double size = 0, time = 0;
};

std::vector<double> sizes_of(const std::vector<LogPoint>& points) {
    std::vector<double> sizes;
    for (const LogPoint& p : points) sizes.push_back(p.size);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

struct LogCurve {
    std::vector<double> sizes, times;  // of the knots
    double error = 0;                  // root of the mean loss
};

// Which two knots a size lies between, and how far on: the weights of a piecewise linear curve.
struct Weights {
    std::size_t left = 0;
    double right_share = 0;
};
Weights weights_at(const std::vector<double>& knots, double size) {
    const auto above = std::upper_bound(knots.begin() + 1, knots.end() - 1, size);
    const auto right = static_cast<std::size_t>(above - knots.begin());
    return {right - 1, (size - knots[right - 1]) / (knots[right] - knots[right - 1])};
}

// Cauchy's loss: errors well above this count as little as a few of its size, so that no knot goes to an outlier.
constexpr double loss_scale = 0.05;
double loss(double error) { return loss_scale * loss_scale * std::log1p(error * error / (loss_scale * loss_scale)); }

LogCurve fit_on(const std::vector<LogPoint>& points, std::vector<double> knots) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(points.size()),
                                              static_cast<Eigen::Index>(knots.size()));
    Eigen::VectorXd b(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Weights at = weights_at(knots, points[i].size);
        const auto row = static_cast<Eigen::Index>(i), left = static_cast<Eigen::Index>(at.left);
        a(row, left) = 1 - at.right_share;
        a(row, left + 1) = at.right_share;
        b[row] = points[i].time;
    }
    Eigen::VectorXd times, errors = Eigen::VectorXd::Zero(b.size());
    for (int reweighting = 0; reweighting < 6; ++reweighting) {
        const Eigen::VectorXd weights = (1 + (errors / loss_scale).array().square()).rsqrt().matrix();
        times = (weights.asDiagonal() * a).colPivHouseholderQr().solve(weights.asDiagonal() * b);
        errors = a * times - b;
    }
    const double error = std::sqrt(errors.unaryExpr(&loss).mean());
    return {std::move(knots), {times.data(), times.data() + times.size()}, error};
}

// The best curve with one knot more; nothing where every size has one.
std::optional<LogCurve> with_one_more(const std::vector<LogPoint>& points, const std::vector<double>& sizes,
                                      const LogCurve& curve) {
    std::optional<LogCurve> best;
    for (const double size : sizes) {
        std::vector<double> knots = curve.sizes;
        const auto place = std::lower_bound(knots.begin(), knots.end(), size);
        if (place != knots.end() && *place == size) continue;
        knots.insert(place, size);
        LogCurve candidate = fit_on(points, std::move(knots));
        if (!best || candidate.error < best->error) best = std::move(candidate);
    }
    return best;
}

// Moves one knot after the other to where the error is least, until none moves: a knot that was the best one alone is
// often not the best beside a later one.
LogCurve settled(const std::vector<LogPoint>& points, const std::vector<double>& sizes, LogCurve curve) {
    for (std::size_t k = 1; k + 1 < curve.sizes.size();) {
        std::vector<double> others = curve.sizes;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
        LogCurve moved = *with_one_more(points, sizes, fit_on(points, std::move(others)));
        const bool is_better = moved.error < curve.error * (1 - 1e-9);
        if (is_better) curve = std::move(moved);
        k = is_better ? 1 : k + 1;
    }
    return curve;
}

}  // namespace

AlphaBeta fit_alpha_beta(std::span<const CurvePoint> points) {
    std::vector<std::vector<double>> rows;
    std::vector<double> times, sizes;
    for (const CurvePoint& p : points) {
        REHEARSE_CHECK(p.bytes >= 0, "a message has a size");
        rows.push_back({1, p.bytes});
        times.push_back(p.seconds);
        sizes.push_back(p.bytes);
    }
    REHEARSE_CHECK(!sizes.empty() && std::ranges::min(sizes) < std::ranges::max(sizes), "a line needs two sizes");
    const std::vector<double> x = fit_non_negative_relative(std::move(rows), times);
    return {x[0], x[1]};
}

double seconds_at(const AlphaBeta& line, double bytes) { return line.latency_s + bytes * line.seconds_per_byte; }

PiecewiseCurve fit_piecewise(std::span<const CurvePoint> points, const PiecewiseOptions& options) {
    std::vector<LogPoint> logs;
    for (const CurvePoint& p : points) {
        REHEARSE_CHECK(p.seconds > 0, "a measured curve took time");
        if (p.bytes > 0) logs.push_back({std::log(p.bytes), std::log(p.seconds)});
    }
    const std::vector<double> sizes = sizes_of(logs);
    REHEARSE_CHECK(sizes.size() >= 2, "a curve needs two sizes");
    LogCurve curve = fit_on(logs, {sizes.front(), sizes.back()});
    while (curve.error > options.error_wanted && curve.sizes.size() < options.knots_max) {
        std::optional<LogCurve> finer = with_one_more(logs, sizes, curve);
        if (!finer) break;
        curve = settled(logs, sizes, std::move(*finer));
    }
    PiecewiseCurve fitted;
    for (std::size_t i = 0; i < curve.sizes.size(); ++i)
        fitted.knots.push_back({std::exp(curve.sizes[i]), std::exp(curve.times[i])});
    return fitted;
}

double seconds_at(const PiecewiseCurve& curve, double bytes) {
    const std::vector<CurvePoint>& knots = curve.knots;
    REHEARSE_CHECK(knots.size() >= 2, "a curve has two knots");
    if (bytes <= knots.front().bytes) return knots.front().seconds;
    if (bytes >= knots.back().bytes) return knots.back().seconds * bytes / knots.back().bytes;
    const auto right = std::find_if(knots.begin(), knots.end(), [&](const CurvePoint& k) { return k.bytes > bytes; });
    const auto left = right - 1;
    const double share = std::log(bytes / left->bytes) / std::log(right->bytes / left->bytes);
    return left->seconds * std::pow(right->seconds / left->seconds, share);
}

CurveError summarise_residuals(std::span<const double> residuals) {
    CurveError error;
    for (const double r : residuals) {
        error.mean += std::abs(r) / static_cast<double>(residuals.size());
        error.worst = std::max(error.worst, std::abs(r));
    }
    return error;
}

}  // namespace rehearse

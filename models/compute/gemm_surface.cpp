#include "models/compute/gemm_surface.hpp"

#include <cmath>

#include <algorithm>
#include <array>
#include <numeric>

#include "models/compute/non_negative_fit.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// What each coefficient of the surface multiplies, in the order of its members.
std::array<double, 5> terms(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
    const double b = static_cast<double>(batch), rows = static_cast<double>(m), columns = static_cast<double>(n),
                 inner = static_cast<double>(k);
    return {1, 2 * b * rows * columns * inner, b * rows * columns, b * rows * inner, b * inner * columns};
}

}  // namespace

double gemm_seconds(const GemmSurface& s, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::array<double, 5> of = terms(batch, m, n, k), costs{s.launch, s.flop, s.result, s.left, s.right};
    return std::inner_product(of.begin(), of.end(), costs.begin(), 0.0);
}

GemmSurface fit_gemm_surface(std::span<const GemmPoint> points) {
    std::vector<std::vector<double>> rows;
    std::vector<double> times;
    for (const GemmPoint& p : points) {
        REHEARSE_CHECK(std::min({p.batch, p.m, p.n, p.k}) >= 1, "a matrix product has sides");
        const std::array<double, 5> row = terms(p.batch, p.m, p.n, p.k);
        rows.emplace_back(row.begin(), row.end());
        times.push_back(p.seconds);
    }
    const std::vector<double> x = fit_non_negative_relative(std::move(rows), times);
    return {x[0], x[1], x[2], x[3], x[4]};
}

std::vector<double> gemm_errors(const GemmSurface& surface, std::span<const GemmPoint> points) {
    std::vector<double> errors;
    for (const GemmPoint& p : points)
        errors.push_back(gemm_seconds(surface, p.batch, p.m, p.n, p.k) / p.seconds - 1);
    return errors;
}

GemmTable::GemmTable(std::span<const GemmPoint> points) : surface_(fit_gemm_surface(points)) {
    for (const GemmPoint& p : points) {
        const double predicted = gemm_seconds(surface_, p.batch, p.m, p.n, p.k);
        const auto log2 = [](std::int64_t side) { return std::log2(static_cast<double>(side)); };
        misses_.push_back({log2(p.m), log2(p.n), log2(p.k), std::log(p.seconds / predicted)});
    }
}

double GemmTable::seconds(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) const {
    const double x = std::log2(static_cast<double>(m)), y = std::log2(static_cast<double>(n)),
                 z = std::log2(static_cast<double>(k));
    double weights = 0, sum = 0;
    for (const Miss& miss : misses_) {
        const double distance = (miss.m - x) * (miss.m - x) + (miss.n - y) * (miss.n - y) + (miss.k - z) * (miss.k - z);
        const double near = 1 / (distance + 0.0625);
        weights += near * near;
        sum += near * near * miss.log_ratio;
    }
    return gemm_seconds(surface_, batch, m, n, k) * std::exp(sum / weights);
}

}  // namespace rehearse

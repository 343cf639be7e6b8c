#include "sim/base/quantile.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

double sorted_quantile(const std::vector<double>& sorted, double share) {
    const double position = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void sort(std::vector<double>& values) {
    REHEARSE_CHECK(!values.empty(), "a quantile of nothing");
    std::sort(values.begin(), values.end());
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    sort(values);
    return sorted_quantile(values, share);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double relative_spread(std::vector<double> values) {
    sort(values);
    return (sorted_quantile(values, 0.75) - sorted_quantile(values, 0.25)) / sorted_quantile(values, 0.5);
}

}  // namespace rehearse

#include "models/workload/routing/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "sim/base/checks.hpp"

namespace rehearse {

std::int64_t expert_capacity(double factor, std::int64_t tokens, std::uint32_t top_k, std::uint32_t groups) {
    REHEARSE_CHECK(factor >= 0 && groups > 0, "a capacity factor is not negative");
    if (factor == 0) return INT64_MAX;
    const double even = static_cast<double>(tokens) * top_k / groups;
    return static_cast<std::int64_t>(std::ceil(factor * even * (1 - 1e-12)));  // 1.1 x 640 is 704, not 705
}

DropReport count_drops(std::span<const std::uint32_t> assignments, std::int64_t capacity) {
    std::int64_t all = 0, dropped = 0, over = 0;
    for (const std::int64_t n : assignments) {
        all += n;
        dropped += std::max<std::int64_t>(n - capacity, 0);
        over += n > capacity ? 1 : 0;
    }
    if (all == 0) return {};
    return {static_cast<double>(dropped) / static_cast<double>(all),
            static_cast<double>(over) / static_cast<double>(assignments.size()), over > 0 ? 1.0 : 0.0};
}

DropReport draw_drops(const TokenDraw& draw, std::int64_t tokens, std::int64_t capacity,
                      std::uint32_t experts_per_group, std::uint32_t steps, std::uint32_t layer, std::uint64_t seed) {
    REHEARSE_CHECK(experts_per_group > 0 && draw.experts() % experts_per_group == 0, "groups divide the experts");
    DropReport sum;
    std::vector<std::uint32_t> groups(draw.experts() / experts_per_group);
    for (std::uint32_t step = 0; step < steps; ++step) {
        const std::vector<std::uint32_t> counts = draw.tokens_per_expert(tokens, layer, step, seed);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const auto first = counts.begin() + static_cast<std::ptrdiff_t>(i * experts_per_group);
            groups[i] = std::accumulate(first, first + experts_per_group, 0U);
        }
        const DropReport one = count_drops(groups, capacity);
        sum.dropped += one.dropped;
        sum.over += one.over;
        sum.steps += one.steps;
    }
    const double n = std::max(steps, 1U);
    return {sum.dropped / n, sum.over / n, sum.steps / n};
}

DropReport normal_drops(double variation, double factor, std::uint32_t groups) {
    if (factor == 0) return {};
    if (!(variation > 0)) return factor < 1 ? DropReport{1 - factor, 1, 1} : DropReport{};
    const double z = (factor - 1) / variation;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double over = std::erfc(z / std::numbers::sqrt2) / 2;
    // log1p keeps the small chances that 1 - (1 - over)^groups would round away.
    const double steps = over < 1 ? -std::expm1(groups * std::log1p(-over)) : 1;
    return {variation * (density - z * over), over, steps};
}

double uniform_variation(std::int64_t tokens, std::uint32_t experts, std::uint32_t top_k) {
    const double mean = static_cast<double>(tokens) * top_k / experts;
    return std::sqrt((1 - static_cast<double>(top_k) / experts) / mean);
}

}  // namespace rehearse

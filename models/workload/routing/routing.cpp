#include "models/workload/routing/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

std::string_view name(RoutingKind kind) {
    constexpr std::string_view names[] = {"uniform", "zipf", "dirichlet", "skew", "recorded", "balanced"};
    return names[static_cast<std::size_t>(kind)];
}

namespace {

constexpr double forgotten = 1e-4;  // correlation below which an earlier weight may as well be another one

void normalise(std::vector<double>& weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& w : weights) w = sum > 0 ? w / sum : 1.0 / static_cast<double>(weights.size());
}

// Experts of a layer in random order: position r holds the expert of rank r.
std::vector<std::uint32_t> order_of_layer(std::uint32_t experts, std::uint32_t layer, std::uint64_t seed) {
    const Stream stream(seed, "routing.order");
    std::vector<std::uint32_t> order(experts);
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t i = experts; i > 1; --i) {
        const auto j = static_cast<std::uint32_t>(stream.uniform(layer, i) * i);
        std::swap(order[i - 1], order[j]);
    }
    return order;
}

// A variable of Gamma(shape, 1) by Marsaglia and Tsang (ACM TOMS 26, 2000); below shape 1 the boost u^(1/shape) of
// their section 6. `counter` is the first of 256 that belong to this variable alone.
double gamma_draw(const Stream& stream, std::uint64_t entity, std::uint64_t counter, double shape) {
    const double boost = shape < 1 ? std::pow(1 - stream.uniform(entity, counter), 1 / shape) : 1;
    const double d = std::max(shape, shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (std::uint64_t attempt = 1; attempt < 255; attempt += 2) {
        const double x = stream.normal(entity, counter + attempt);
        const double v = std::pow(1 + c * x, 3);
        if (v <= 0) continue;
        const double u = 1 - stream.uniform(entity, counter + attempt + 1);
        if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return boost * d * v;
    }
    return boost * d;  // 127 rejections of under 5 % each do not happen
}

// Weight of one expert after `step` steps of the beta-gamma walk.
double walked_weight(const RoutingSpec& spec, const Stream& stream, std::uint64_t entity, std::uint32_t step) {
    const double keep = 1 - spec.drift, a = spec.concentration;
    const auto drawn = [&](std::uint32_t t, std::uint64_t part, double shape) {
        return gamma_draw(stream, entity, (std::uint64_t{t} << 10) + (part << 8), shape);
    };
    if (spec.drift <= 0) return drawn(0, 0, a);
    if (keep <= 0) return drawn(step, 0, a);
    const auto memory = static_cast<std::uint32_t>(std::min(std::ceil(std::log(forgotten) / std::log(keep)), 1e9));
    const std::uint32_t first = step > memory ? step - memory : 0;
    double weight = drawn(first, 0, a);
    for (std::uint32_t t = first + 1; t <= step; ++t) {
        const double kept = drawn(t, 1, a * keep), lost = drawn(t, 2, a * spec.drift);
        weight = weight * (kept + lost > 0 ? kept / (kept + lost) : keep) + drawn(t, 3, a * spec.drift);
    }
    return weight;
}

std::vector<double> dirichlet(const RoutingSpec& spec, std::uint32_t experts, std::uint32_t layer, std::uint32_t step,
                              std::uint64_t seed) {
    const Stream stream(seed, "routing.dirichlet");
    std::vector<double> weights(experts);
    for (std::uint32_t e = 0; e < experts; ++e)
        weights[e] = walked_weight(spec, stream, std::uint64_t{layer} << 32 | e, step);
    normalise(weights);
    return weights;
}

std::vector<double> skew(const RoutingSpec& spec, std::uint32_t experts, std::uint32_t layer, std::uint64_t seed) {
    const std::vector<std::uint32_t> order = order_of_layer(experts, layer, seed);
    std::vector<double> shares(experts, 0.0);
    std::uint32_t next = 0;
    double rest = 1;
    for (const SkewGroup& group : spec.groups) {
        for (std::uint32_t i = 0; i < group.experts; ++i) shares[order[next++]] = group.share / group.experts;
        rest -= group.share;
    }
    for (std::uint32_t i = next; i < experts; ++i) shares[order[i]] = std::max(rest, 0.0) / (experts - next);
    return shares;
}

}  // namespace

std::vector<double> expert_shares(const RoutingSpec& spec, std::uint32_t experts, std::uint32_t layer,
                                  std::uint32_t step, std::uint64_t seed) {
    std::vector<double> shares(experts, 1.0 / experts);
    switch (spec.kind) {
        case RoutingKind::balanced:
        case RoutingKind::uniform: break;
        case RoutingKind::zipf: {
            const std::vector<std::uint32_t> order = order_of_layer(experts, layer, seed);
            for (std::uint32_t r = 0; r < experts; ++r) shares[order[r]] = std::pow(r + 1.0, -spec.exponent);
            normalise(shares);
            break;
        }
        case RoutingKind::dirichlet: return dirichlet(spec, experts, layer, step, seed);
        case RoutingKind::skew: return skew(spec, experts, layer, seed);
        case RoutingKind::recorded: {
            REHEARSE_CHECK(spec.recorded.experts == experts, "recorded routing of another number of experts");
            const std::span<const double> counts = spec.recorded.at(step, layer);
            shares.assign(counts.begin(), counts.end());
            normalise(shares);
            break;
        }
    }
    return shares;
}

std::vector<double> inclusion_probabilities(std::span<const double> shares, std::uint32_t top_k) {
    REHEARSE_CHECK(top_k > 0 && top_k <= shares.size(), "k experts of those there are");
    std::vector<double> pi(shares.begin(), shares.end());
    // Each round caps the experts that the factor of the round before put above 1, and shares out what is left.
    double sum = std::accumulate(pi.begin(), pi.end(), 0.0), left = top_k;
    std::vector<std::uint32_t> open(pi.size());
    std::iota(open.begin(), open.end(), 0U);
    while (true) {
        if (!(sum > 1e-12)) {
            for (const std::uint32_t e : open) pi[e] = left / static_cast<double>(open.size());
            break;
        }
        const double factor = left / sum;
        const auto capped = std::stable_partition(open.begin(), open.end(),
                                                  [&](std::uint32_t e) { return shares[e] * factor < 1; });
        if (capped == open.end()) {
            for (const std::uint32_t e : open) pi[e] = shares[e] * factor;
            break;
        }
        for (auto e = capped; e != open.end(); ++e) pi[*e] = 1;
        left -= static_cast<double>(open.end() - capped);
        open.erase(capped, open.end());
        if (open.empty()) break;
        sum = 0;
        for (const std::uint32_t e : open) sum += shares[e];
    }
    return pi;
}

}  // namespace rehearse

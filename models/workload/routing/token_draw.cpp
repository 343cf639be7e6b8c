#include "models/workload/routing/token_draw.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr double invert_below = 32;  // mean up to which the binomial is inverted term by term

// The quantile u of a binomial with this mean and variance q' mean, q' = 1 - p, by adding up its terms.
std::int64_t invert_binomial(double mean, double one_minus_p, double u, std::int64_t most) {
    const double p = 1 - one_minus_p;
    const double trials = p > 1e-9 ? std::max(std::round(mean / p), std::ceil(mean)) : 0;  // 0: a Poisson variable
    double term = trials > 0 ? std::exp(trials * std::log1p(-std::min(mean / trials, 1 - 1e-12))) : std::exp(-mean);
    const double odds = trials > 0 ? mean / trials / std::max(1 - mean / trials, 1e-12) : mean;
    std::int64_t n = 0;
    for (double sum = term; u >= sum && n < most; sum += term) {
        const double factor = trials > 0 ? (trials - static_cast<double>(n)) * odds : odds;
        ++n;
        term *= factor / static_cast<double>(n);
        if (!(term > 0)) break;
    }
    return n;
}

}  // namespace

TokenDraw::TokenDraw(std::span<const double> inclusion)
    : inclusion_(inclusion.begin(), inclusion.end()),
      mean_left_(inclusion.size() + 1, 0.0),
      variance_left_(inclusion.size() + 1, 0.0) {
    double squares = 0;
    for (std::size_t e = inclusion.size(); e-- > 0;) {
        const double pi = inclusion[e];
        REHEARSE_CHECK(pi >= 0 && pi <= 1 + 1e-9, "a token chooses an expert at most once");
        mean_left_[e] = mean_left_[e + 1] + pi;
        const double v = pi * std::max(1 - pi, 0.0);
        variance_left_[e] = variance_left_[e + 1] + v;
        squares += v * v;
    }
    top_k_ = static_cast<std::uint32_t>(std::lround(mean_left_[0]));
    const double total = variance_left_[0] * variance_left_[0];
    if (total > squares && total > 1e-12) inflation_ = total / (total - squares);
    REHEARSE_CHECK(top_k_ >= 1 && std::abs(mean_left_[0] - top_k_) < 1e-6, "inclusion probabilities sum to k");
}

void TokenDraw::draw(std::int64_t tokens, std::uint32_t layer, std::uint32_t step, std::uint32_t source,
                     std::uint64_t seed, std::span<std::uint32_t> out) const {
    REHEARSE_CHECK(out.size() == inclusion_.size() && tokens >= 0 && tokens < INT32_MAX, "one place an expert");
    const Stream stream(seed ^ std::uint64_t{step} << 32, "routing.tokens");
    const std::uint64_t entity = std::uint64_t{layer} << 32 | source;
    const auto n = static_cast<double>(tokens);
    std::int64_t left = tokens * top_k_;
    for (std::size_t e = 0; e < out.size(); ++e) {
        const double pi = inclusion_[e], v = pi * std::max(1 - pi, 0.0);
        const double ratio = variance_left_[e] > 1e-12 ? std::min(v / variance_left_[e], 1.0) : 0;
        const auto after = static_cast<std::int64_t>(out.size() - e - 1);
        const std::int64_t least = std::max<std::int64_t>(0, left - tokens * after), most = std::min(tokens, left);
        const double mean = std::clamp(n * pi + (static_cast<double>(left) - n * mean_left_[e]) * ratio,
                                       static_cast<double>(least), static_cast<double>(most));
        const double spread = inflation_ * std::max(1 - pi, 0.0) * (1 - ratio);  // variance / mean
        std::int64_t drawn = std::llround(mean);
        if (spread > 1e-9) {
            drawn = mean < invert_below ? invert_binomial(mean, spread, stream.uniform(entity, e), most)
                                        : std::llround(mean + std::sqrt(mean * spread) * stream.normal(entity, e));
        }
        drawn = std::clamp(drawn, least, most);
        out[e] = static_cast<std::uint32_t>(drawn);
        left -= drawn;
    }
}

std::vector<std::uint32_t> TokenDraw::tokens_per_expert(std::int64_t tokens, std::uint32_t layer, std::uint32_t step,
                                                        std::uint64_t seed) const {
    return tokens_per_source(1, tokens, layer, step, seed);
}

std::vector<std::uint32_t> TokenDraw::tokens_per_source(std::uint32_t sources, std::int64_t tokens_per_source,
                                                        std::uint32_t layer, std::uint32_t step,
                                                        std::uint64_t seed) const {
    std::vector<std::uint32_t> counts(std::size_t{sources} * experts());
    for (std::uint32_t s = 0; s < sources; ++s)
        draw(tokens_per_source, layer, step, s, seed, std::span(counts).subspan(std::size_t{s} * experts(), experts()));
    return counts;
}

}  // namespace rehearse

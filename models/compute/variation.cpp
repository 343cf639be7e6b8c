#include "models/compute/variation.hpp"

#include <algorithm>
#include <cmath>

namespace rehearse {

namespace {

constexpr std::size_t jitter_bins = 4096;  // 12 bits of the hash

// x with P(|Z| < x) = p for a standard normal Z: bisection on erf, good to 1e-12.
double folded_normal_quantile(double p) {
    double low = 0, high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        (std::erf(middle / std::sqrt(2.0)) < p ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace

Variation::Variation(const VariationSpec& spec, std::uint64_t seed) : spec_(spec), hosts_(seed, "compute.host") {
    if (spec.jitter.value <= 0) return;
    std::uint64_t state = seed ^ hash_name("compute.jitter");
    jitter_key_ = std::max<std::uint64_t>(splitmix64(state), 1);
    // A folded normal has standard deviation sqrt(1 - 2/pi) per unit; scaled so that `jitter` is the deviation.
    const double unit = spec.jitter.value / std::sqrt(1.0 - 2.0 / 3.14159265358979323846);
    jitter_table_.reserve(jitter_bins);
    for (std::size_t i = 0; i < jitter_bins; ++i) {
        jitter_table_.push_back(1.0 + unit * folded_normal_quantile((static_cast<double>(i) + 0.5) / jitter_bins));
    }
}

double Variation::host_factor(NodeId node) const {
    double factor = 1.0 + spec_.host_spread.value * hosts_.exponential(node.value, 0);
    if (spec_.slow_host_share.value > 0 && hosts_.uniform(node.value, 1) < spec_.slow_host_share.value) {
        factor *= 1.0 + spec_.slow_host_slowdown.value;
    }
    return factor;
}

}  // namespace rehearse

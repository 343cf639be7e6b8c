#include "models/compute/variation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rehearse {

namespace {

constexpr std::size_t jitter_bins = 4096;  // 12 bits of the hash

// A permutation of 0 .. n-1: the order of n independent draws.
std::vector<std::uint32_t> draw_permutation(const Stream& stream, std::uint32_t n, std::uint64_t counter) {
    std::vector<double> keys(n);
    for (std::uint32_t i = 0; i < n; ++i) keys[i] = stream.uniform(i, counter);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
    });
    return order;
}

}  // namespace

Variation::Variation(const VariationSpec& spec, std::uint64_t seed, std::uint32_t hosts) : host_factors_(hosts, 1.0) {
    const Stream stream(seed, "compute.host");
    const double share = spec.host_tail_share.value;
    const std::vector<std::uint32_t> order = draw_permutation(stream, hosts, 0);
    for (std::uint32_t i = 0; share > 0 && i < hosts; ++i) {
        const double u = (i + 0.5) / hosts;
        host_factors_[order[i]] += spec.host_tail_slowdown.value * std::max(0.0, 1.0 - (1.0 - u) / share);
    }
    // Broken hosts: the nearest whole number of them, at least one when the share is not zero.
    if (spec.slow_host_share.value > 0 && hosts > 0) {
        const std::vector<std::uint32_t> picks = draw_permutation(stream, hosts, 1);
        const auto count = static_cast<std::uint32_t>(std::max(1.0, std::round(spec.slow_host_share.value * hosts)));
        for (std::uint32_t i = 0; i < std::min(count, hosts); ++i) {
            host_factors_[picks[i]] *= 1.0 + spec.slow_host_slowdown.value;
        }
    }
    if (spec.jitter.value <= 0) return;
    std::uint64_t state = seed ^ hash_name("compute.jitter");
    jitter_key_ = splitmix64(state);
    jitter_table_.reserve(jitter_bins);
    for (std::size_t i = 0; i < jitter_bins; ++i) {
        const double u = (static_cast<double>(i) + 0.5) / jitter_bins;
        jitter_table_.push_back(1.0 - spec.jitter.value * std::log1p(-u));
    }
}

}  // namespace rehearse

// Why equal GPUs do not take equal time: a lasting spread between hosts, rare slow hosts, and jitter per operator run.
// Maxima over many ranks of these draws are part of why MFU falls with scale.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/rng.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct VariationSpec {
    Ratio host_spread{0.0};         // mean of the exponential lasting slow-down of a host: factor 1 + spread * Exp(1)
    Ratio jitter{0.0};              // standard deviation of a work's duration, relative; folded normal, never faster
    Ratio slow_host_share{0.0};     // share of hosts that are slow
    Ratio slow_host_slowdown{0.0};  // by how much longer they compute, e.g. 10 %
};

class Variation {
public:
    Variation(const VariationSpec& spec, std::uint64_t seed);
    // Lasting factor (>= 1) of the GPUs of a host.
    double host_factor(NodeId node) const;
    // Factor (>= 1) of one segment run: a function of (seed, rank, counter) alone.
    double jitter_factor(RankId rank, std::uint64_t counter) const {
        if (jitter_key_ == 0) return 1.0;
        std::uint64_t state = jitter_key_ ^ (std::uint64_t{rank.value} << 40) ^ counter;
        return jitter_table_[splitmix64(state) >> 52];
    }

private:
    VariationSpec spec_;
    Stream hosts_;
    std::uint64_t jitter_key_ = 0;      // 0 = no jitter
    std::vector<double> jitter_table_;  // 4,096 equally likely factors: the quantiles of the distribution
};

}  // namespace rehearse

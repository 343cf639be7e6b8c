// Why equal GPUs do not take equal time: a few hosts that are slower than the rest, rare broken ones, and jitter per
// run of a work. Maxima over many ranks of these draws are part of why MFU falls with scale.
//
// Host speeds are stratified: of N hosts exactly the N quantiles ((i + 0.5) / N) of the distribution occur, and the
// seed decides which host gets which. So the slowest of many hosts does not swing from seed to seed as independent
// draws would.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct VariationSpec {
    Ratio host_tail_share{0.0};     // share f of hosts in the slow tail of the speed distribution
    Ratio host_tail_slowdown{0.0};  // D: factor 1 + D max(0, 1 - (1 - u) / f) at quantile u; the slowest host 1 + D
    Ratio jitter{0.0};              // mean j of an exponential: a work of a rank takes 1 + j Exp(1) times its cost
    Ratio slow_host_share{0.0};     // share of hosts that are broken in the way of MegaScale section 5 (about 0.5 %)
    Ratio slow_host_slowdown{0.0};  // by how much longer they compute (about 10 %)
};

class Variation {
public:
    Variation(const VariationSpec& spec, std::uint64_t seed, std::uint32_t hosts);
    // Lasting factor (>= 1) of the GPUs of the job's host-th host.
    double host_factor(std::uint32_t host) const { return host_factors_[host]; }
    // Factor (>= 1) of one run of a work: a function of (seed, rank, counter) alone.
    double jitter_factor(std::uint32_t rank, std::uint64_t counter) const {
        if (jitter_table_.empty()) return 1.0;
        std::uint64_t state = jitter_key_ ^ (std::uint64_t{rank} << 36) ^ counter;
        return jitter_table_[splitmix64(state) >> 52];
    }

private:
    std::vector<double> host_factors_;
    std::uint64_t jitter_key_ = 0;
    std::vector<double> jitter_table_;  // 4,096 equally likely factors: the quantiles of the distribution; empty = none
};

}  // namespace rehearse

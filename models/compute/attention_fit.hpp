// Time of an attention kernel over FLOPs, which grow with the square of the sequence, and bytes, which grow with it:
//
//   t = launch + flop F + byte B
//
// non-negative, of least squared relative errors (non_negative_fit.hpp).
#pragma once

#include <span>
#include <vector>

namespace rehearse {

struct AttentionPoint {
    double flops = 0, bytes = 0, seconds = 0;
};

struct AttentionFit {
    double launch = 0, flop = 0, byte = 0;  // s
};

double attention_seconds(const AttentionFit& fit, double flops, double bytes);

// InvariantBroken without points, or for one without time.
AttentionFit fit_attention(std::span<const AttentionPoint> points);

// predicted / measured - 1, per point.
std::vector<double> attention_errors(const AttentionFit& fit, std::span<const AttentionPoint> points);

}  // namespace rehearse

#include "models/compute/attention_fit.hpp"

#include "models/compute/non_negative_fit.hpp"

namespace rehearse {

double attention_seconds(const AttentionFit& fit, double flops, double bytes) {
    return fit.launch + fit.flop * flops + fit.byte * bytes;
}

AttentionFit fit_attention(std::span<const AttentionPoint> points) {
    std::vector<std::vector<double>> rows;
    std::vector<double> times;
    for (const AttentionPoint& point : points) {
        rows.push_back({1, point.flops, point.bytes});
        times.push_back(point.seconds);
    }
    const std::vector<double> x = fit_non_negative_relative(std::move(rows), times);
    return {x[0], x[1], x[2]};
}

std::vector<double> attention_errors(const AttentionFit& fit, std::span<const AttentionPoint> points) {
    std::vector<double> errors;
    for (const AttentionPoint& point : points)
        errors.push_back(attention_seconds(fit, point.flops, point.bytes) / point.seconds - 1);
    return errors;
}

}  // namespace rehearse

// What each kernel has to do at least: floating-point operations (a multiplication and an addition are two) and bytes
// read and written once. Rates of benchmarks and calibrations are these over the time.
#pragma once

#include <cstdint>

#include "kernels/attention_shape.hpp"

namespace rehearse::kernels {

struct Work {
    double flops = 0, bytes = 0;
};

constexpr Work gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, double element, double result) {
    const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); };
    return {2.0 * product(m, n) * static_cast<double>(k),
            element * (product(m, k) + product(k, n)) + result * product(m, n)};
}

// Forward: 6 rows hidden intermediate (up is twice as wide as down); backward twice that.
constexpr double expert_ffn_flops(std::int64_t rows, std::int64_t hidden, std::int64_t intermediate) {
    return 6.0 * static_cast<double>(rows) * static_cast<double>(hidden) * static_cast<double>(intermediate);
}

// A row read, a row written, and its index.
constexpr double permute_bytes(std::int64_t rows, std::int64_t hidden, double element) {
    return static_cast<double>(rows) * (2.0 * static_cast<double>(hidden) * element + 4.0);
}

// top_k rows read per token written, with index and weight.
constexpr double combine_bytes(std::int64_t tokens, std::int64_t top_k, std::int64_t hidden, double element) {
    const double rows = static_cast<double>(tokens) * static_cast<double>(top_k);
    return (rows + static_cast<double>(tokens)) * static_cast<double>(hidden) * element + 8.0 * rows;
}

// Gradient of a token and the row read, gradient of the row written; index, weight and its gradient.
constexpr double combine_backward_bytes(std::int64_t tokens, std::int64_t top_k, std::int64_t hidden, double element) {
    const double rows = static_cast<double>(tokens) * static_cast<double>(top_k);
    return (2.0 * rows + static_cast<double>(tokens)) * static_cast<double>(hidden) * element + 12.0 * rows;
}

// g and u read, the product written.
constexpr double swiglu_bytes(std::int64_t rows, std::int64_t intermediate, double element) {
    return 3.0 * static_cast<double>(rows) * static_cast<double>(intermediate) * element;
}

// Gradient, g and u read, both gradients written.
constexpr double swiglu_backward_bytes(std::int64_t rows, std::int64_t intermediate, double element) {
    return 5.0 * static_cast<double>(rows) * static_cast<double>(intermediate) * element;
}

// `streams` arrays of n elements: 2 for a copy and a norm, 3 for a triad, inputs + 1 for a sum.
constexpr double streamed_bytes(std::int64_t n, std::int64_t streams, double element) {
    return static_cast<double>(n) * static_cast<double>(streams) * element;
}

// Logits read, experts and weights written; selection is counted as one pass.
constexpr double select_bytes(std::int64_t tokens, std::int64_t experts, std::int64_t top_k) {
    return static_cast<double>(tokens) * (4.0 * static_cast<double>(experts) + 8.0 * static_cast<double>(top_k));
}

// Two products over the pairs of query and visible key, sequence (sequence + 1) / 2 per head; backward has five.
constexpr double attention_flops(const AttentionShape& shape) {
    const double s = static_cast<double>(shape.sequence);
    return 4.0 * static_cast<double>(shape.heads) * static_cast<double>(shape.head_dim) * s * (s + 1.0) / 2.0;
}
constexpr double attention_backward_flops(const AttentionShape& shape) { return 2.5 * attention_flops(shape); }

}  // namespace rehearse::kernels

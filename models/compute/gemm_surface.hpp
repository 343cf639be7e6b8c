// Time of a matrix product over the whole range of its shapes, fitted on measured ones: CPU or GPU, one precision.
//
// C (m x n) = A (m x k) B (k x n), `batch` of them in one call:
//
//   t = launch + batch (flop 2 m n k + result m n + left m k + right k n)
//
//   launch   s     call and start, first tiles without anything to hide behind
//   flop     s     per operation: inverse of the rate that large inner blocks reach
//   result   s     per element of C: writing it, and the beginning and end of each tile, which don't grow with k
//   left     s     per element of A: reading (on a CPU also packing) it, where the arithmetic does not hide it
//   right    s     per element of B: the same
//
// The form is linear in its coefficients, and the fit the one non-negative minimum of squared relative errors
// (non_negative_fit.hpp): no start, no local minima. A coefficient of zero is hidden behind the others.
//
// Efficiency at a shape follows: flop / (flop + result / 2k + left / 2n + right / 2m) of 1 / flop, which falls with
// each short side. Against tiles in waves (cost.hpp) it doesn't see the last wave: a shape that just spills over is
// predicted too fast by up to a seventh on an H100.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

struct GemmPoint {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    double seconds = 0;  // measured
};

struct GemmSurface {
    double launch = 0, flop = 0, result = 0, left = 0, right = 0;  // s
};

double gemm_seconds(const GemmSurface& surface, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k);

// InvariantBroken without points, or for one with a side < 1 or no time.
GemmSurface fit_gemm_surface(std::span<const GemmPoint> points);

// The surface, and at each measured shape what it misses there. In between, the misses of the nearest shapes are
// carried over: the surface knows no caches, and a product that fits into one runs up to half faster than one that does
// not.
//
//     t = surface(m, n, k) exp(sum_i w_i r_i / sum_i w_i),   r_i = log(measured / surface) of a product of point i,
//     w_i = 1 / (d_i^2 + 1/16)^2,   d_i^2 = the squared distance in log2 m, log2 n, log2 k
class GemmTable {
public:
    // InvariantBroken as fit_gemm_surface().
    explicit GemmTable(std::span<const GemmPoint> points);
    const GemmSurface& surface() const { return surface_; }
    double seconds(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) const;

private:
    struct Miss {
        double m, n, k, log_ratio;
    };
    GemmSurface surface_;
    std::vector<Miss> misses_;
};

// predicted / measured - 1, per point.
std::vector<double> gemm_errors(const GemmSurface& surface, std::span<const GemmPoint> points);

}  // namespace rehearse

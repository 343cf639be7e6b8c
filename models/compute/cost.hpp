// Time of one operator on one device.
//
// GEMM (m x k) by (k x n), `batch` of them: the device runs tiles in waves of one tile per multiprocessor. For each
// tile shape the profile knows,
//     t_tiles = waves * 2 tm tn (k / rate + k_overhead) / (peak * efficiency / multiprocessors)
//     waves   = w + tail (ceil(w) - w),  w = tiles / multiprocessors
// (tail = 1: the last wave is as long as a full one; split-K and persistent kernels recover part of it)
// and the best shape counts, as libraries choose it by heuristics. A memory roof joins it:
//     t_memory = (2 (m k + k n) + output_bytes m n) batch / (memory * memory_efficiency)
//     t = smooth_max(t_tiles, t_memory) + kernels * kernel_overhead * kernel_slowdown
// A profile with a surface (gemm_surface.hpp) has GEMMs without tiles instead: what moves a byte is added to what
// computes, not joined by a maximum,
//   t = launch + batch (2 m n k fill / (flops * rate) + output_bytes m n fill / result + 2 m k / left + 2 k n / right)
// Memory-bound kernels: (bytes / (memory * memory_efficiency) + kernels * kernel_overhead) * kernel_slowdown.
// Fused attention: smooth_max(flops / (peak * attention_efficiency), memory roof) + overhead.
// What a profile has measured (measured_costs.hpp) takes the place of all of these.
// smooth_max is the 8-norm: near the ridge neither roof is reached (about 9 % slower where both are equal).
#pragma once

#include <cstdint>
#include <span>

#include "models/collectives/collective.hpp"
#include "models/compute/profile.hpp"

namespace rehearse {

// Of a linear layer: Y = X W, dX = dY W^T, dW = X^T dY. Measured apart where a calibration does so.
enum class GemmRole : std::uint8_t { forward, input_gradient, weight_gradient };

struct GemmShape {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    std::int64_t output_bytes = 2;
    double fill = 1.0;  // share of the result that is computed
    double rate = 1.0;  // of the matrix units, relative to half precision
    GemmRole role = GemmRole::forward;
};

// Products of different heights in one launch, as the experts of a rank are: (m_i x k) by (k x n), or with the heights
// as inner dimension (k x m_i) by (m_i x n). Tiles of all of them share the waves.
enum class GroupedBy : std::uint8_t { m, k };

double smooth_max(double a, double b);

// Seconds.
double gemm_seconds(const DeviceProfile& profile, const GemmShape& shape);
// `heights` replace shape.batch and shape.m (or shape.k).
double grouped_gemm_seconds(const DeviceProfile& profile, const GemmShape& shape, GroupedBy by,
                            std::span<const double> heights);
// `name` of the kernel, for those that were measured.
double memory_seconds(const DeviceProfile& profile, const char* name, double bytes, std::int64_t kernels);
double attention_seconds(const DeviceProfile& profile, const char* name, double flops, double bytes,
                         std::int64_t kernels, Ratio relative);

// What a collective of `ranks` GPUs of one node runs over.
const LocalLink& local_link(const DeviceProfile& profile, std::uint32_t ranks);

// Collectives inside a node: passes * (latency + (n - 1) / n * bytes / bus) * local_slowdown; an all-gather or a
// reduce-scatter of `bytes` (the whole tensor) is one pass, an all-reduce two.
double local_collective_seconds(const DeviceProfile& profile, CollectiveKind kind, double bytes, std::uint32_t ranks);

// Each of `ranks` GPUs of a node sends `bytes` to the next one: (latency + bytes / bus) * local_slowdown.
double local_exchange_seconds(const DeviceProfile& profile, double bytes, std::uint32_t ranks);

}  // namespace rehearse

#include "models/compute/cost.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/row_calls.hpp"

namespace rehearse {

namespace {

double ceil_div(std::int64_t a, std::int64_t b) { return std::ceil(static_cast<double>(a) / static_cast<double>(b)); }

double memory_rate(const DeviceProfile& profile) {
    return profile.memory.bytes_per_second() * profile.memory_efficiency.value;
}

// Seconds for so many tiles of one shape, each over `depth` of the inner dimension.
double wave_seconds(const DeviceProfile& profile, double tiles, double depth, double rate, const TileShape& tile) {
    const double processors = static_cast<double>(profile.multiprocessors);
    const double full = std::max(1.0, tiles) / processors;
    const double waves = full + profile.gemm_tail.value * (std::ceil(full - 1e-9) - full);
    // What begins and ends a tile moves the same bytes at any rate of the matrix units.
    const double flops = 2.0 * static_cast<double>(tile.m * tile.n) * (depth + rate * profile.gemm_k_overhead);
    const double peak = profile.peak.value * rate * profile.gemm_efficiency.value * tile.efficiency.value;
    return waves * flops / (peak / processors);
}

double tile_seconds(const DeviceProfile& profile, const GemmShape& shape, const TileShape& tile) {
    const double tiles = ceil_div(shape.m, tile.m) * ceil_div(shape.n, tile.n) * static_cast<double>(shape.batch);
    return wave_seconds(profile, tiles * shape.fill, static_cast<double>(shape.k), shape.rate, tile);
}

double grouped_tile_seconds(const DeviceProfile& profile, const GemmShape& shape, GroupedBy by,
                            std::span<const double> heights, const TileShape& tile) {
    double tiles = 0, rows = 0;
    for (const double height : heights) {
        tiles += std::ceil(height / static_cast<double>(tile.m) - 1e-9) * ceil_div(shape.n, tile.n);
        rows += height;
    }
    if (by == GroupedBy::m) return wave_seconds(profile, tiles, static_cast<double>(shape.k), shape.rate, tile);
    const double experts = static_cast<double>(heights.size());  // every product has all its tiles, over its own depth
    tiles = experts * ceil_div(shape.m, tile.m) * ceil_div(shape.n, tile.n);
    return wave_seconds(profile, tiles, rows / experts, shape.rate, tile);
}

// 16-byte loads need every contiguous dimension to be a multiple of 8 half-precision elements.
bool is_misaligned(const GemmShape& shape) { return shape.m % 8 != 0 || shape.n % 8 != 0 || shape.k % 8 != 0; }

enum class ProductCall : std::uint8_t { single, grouped };

const GemmTable* measured_product(const DeviceProfile& profile, const GemmShape& shape, ProductCall call) {
    static constexpr const char* names[2][3] = {{"gemm", "gemm dgrad", "gemm wgrad"},
                                                {"grouped gemm", "grouped gemm dgrad", "grouped gemm wgrad"}};
    const MeasuredCosts& measured = profile.measured;
    const auto role = static_cast<std::size_t>(shape.role);
    const GemmTable* grouped = measured.product(names[1][role]);
    return call == ProductCall::grouped && grouped != nullptr ? grouped : measured.product(names[0][role]);
}

const char* measured_name(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::all_reduce: return "all_reduce";
        case CollectiveKind::all_gather: return "all_gather";
        case CollectiveKind::reduce_scatter: return "reduce_scatter";
        case CollectiveKind::broadcast: return "broadcast";
        case CollectiveKind::all_to_all: break;
    }
    return "all_to_all";
}

double launch_seconds(const DeviceProfile& profile, std::int64_t kernels) {
    return static_cast<double>(kernels) * profile.kernel_overhead.seconds() * profile.kernel_slowdown.value;
}

double seconds_for(double bytes, Bandwidth rate) { return rate.value > 0 ? bytes / rate.bytes_per_second() : 0; }

// Of the surface, for so many operations and elements in all.
double surface_seconds(const DeviceProfile& profile, const GemmShape& shape, double flops, double result, double left,
                       double right) {
    const GemmRates& surface = *profile.gemm_surface;
    const double aligned = is_misaligned(shape) ? profile.misaligned_efficiency.value : 1.0;
    return surface.launch.seconds() * profile.kernel_slowdown.value +
           flops / (surface.flops.value * shape.rate * aligned) +
           seconds_for(static_cast<double>(shape.output_bytes) * result, surface.result) +
           seconds_for(2 * left, surface.left) + seconds_for(2 * right, surface.right);
}

}  // namespace

const LocalLink& local_link(const DeviceProfile& profile, std::uint32_t ranks) {
    for (const LocalLink& link : profile.local_links) {
        if (link.gpus >= static_cast<std::int64_t>(ranks)) return link;
    }
    return profile.local_links.back();
}

double smooth_max(double a, double b) {
    const double high = std::max(a, b), low = std::min(a, b);
    if (high <= 0) return 0;
    const double ratio2 = (low / high) * (low / high), ratio8 = ratio2 * ratio2 * ratio2 * ratio2;
    return high * std::pow(1.0 + ratio8, 0.125);
}

double gemm_seconds(const DeviceProfile& profile, const GemmShape& shape) {
    const ProductCall call = shape.batch > 1 ? ProductCall::grouped : ProductCall::single;
    if (const GemmTable* table = measured_product(profile, shape, call))
        return table->seconds(shape.batch, shape.m, shape.n, shape.k);
    const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
    const double batch = static_cast<double>(shape.batch), result = m * n * shape.fill;
    if (profile.gemm_surface)
        return surface_seconds(profile, shape, 2 * batch * result * k, batch * result, batch * m * k, batch * k * n);
    double best = tile_seconds(profile, shape, profile.tiles.front());
    for (const TileShape& tile : profile.tiles) best = std::min(best, tile_seconds(profile, shape, tile));
    if (is_misaligned(shape)) best /= profile.misaligned_efficiency.value;
    const double bytes =
        (2 * (m * k + k * n) + static_cast<double>(shape.output_bytes) * m * n * shape.fill) * batch;
    return smooth_max(best, bytes / memory_rate(profile)) + launch_seconds(profile, 1);
}

double grouped_gemm_seconds(const DeviceProfile& profile, const GemmShape& shape, GroupedBy by,
                            std::span<const double> heights) {
    double rows = 0;
    for (const double height : heights) rows += height;
    if (const GemmTable* table = measured_product(profile, shape, ProductCall::grouped)) {
        double time = 0;  // one after the other, as the kernels call them
        for (const double height : heights) {
            const std::int64_t whole = std::llround(height);
            for (const std::int64_t call : by == GroupedBy::m ? kernels::product_rows(whole)
                                                              : kernels::gradient_rows(whole))
                time += by == GroupedBy::m ? table->seconds(1, call, shape.n, shape.k)
                                           : table->seconds(1, shape.m, shape.n, call);
        }
        return time;
    }
    if (rows <= 0) return launch_seconds(profile, 1);
    const double n = static_cast<double>(shape.n), experts = static_cast<double>(heights.size());
    const double other = static_cast<double>(by == GroupedBy::m ? shape.k : shape.m);
    if (profile.gemm_surface) {
        const double all = rows * n, each = experts * other * n;
        const bool by_m = by == GroupedBy::m;
        return surface_seconds(profile, shape, 2 * all * other, by_m ? all : each, rows * other, by_m ? each : all);
    }
    double best = grouped_tile_seconds(profile, shape, by, heights, profile.tiles.front());
    for (const TileShape& tile : profile.tiles)
        best = std::min(best, grouped_tile_seconds(profile, shape, by, heights, tile));
    const double output = static_cast<double>(shape.output_bytes);
    const double bytes = by == GroupedBy::m ? 2 * (rows * other + experts * other * n) + output * rows * n
                                            : 2 * (rows * other + rows * n) + output * experts * other * n;
    return smooth_max(best, bytes / memory_rate(profile)) + launch_seconds(profile, 1);
}

double memory_seconds(const DeviceProfile& profile, const char* name, double bytes, std::int64_t kernels) {
    if (const PiecewiseCurve* curve = profile.measured.kernel(name)) return seconds_at(*curve, bytes);
    return bytes / memory_rate(profile) * profile.kernel_slowdown.value + launch_seconds(profile, kernels);
}

double attention_seconds(const DeviceProfile& profile, const char* name, double flops, double bytes,
                         std::int64_t kernels, Ratio relative) {
    if (const AttentionFit* fit = profile.measured.attention(name))
        return attention_seconds(*fit, flops, bytes);
    const double compute = flops / (profile.peak.value * profile.attention_efficiency.value * relative.value);
    return smooth_max(compute, bytes / memory_rate(profile)) + launch_seconds(profile, kernels);
}

DeviceProfile limited_by(DeviceProfile profile, Bandwidth nvlink) {
    for (LocalLink& link : profile.local_links) link.bus = std::min(link.bus, nvlink);
    return profile;
}

double local_collective_seconds(const DeviceProfile& profile, CollectiveKind kind, double bytes, std::uint32_t ranks) {
    if (ranks <= 1 || bytes <= 0) return 0;
    if (const PiecewiseCurve* curve = profile.measured.collective(measured_name(kind), ranks))
        return seconds_at(*curve, bytes);
    const double n = static_cast<double>(ranks), passes = kind == CollectiveKind::all_reduce ? 2 : 1;
    return passes * local_exchange_seconds(profile, (n - 1) / n * bytes, ranks);
}

double local_exchange_seconds(const DeviceProfile& profile, double bytes, std::uint32_t ranks) {
    const LocalLink& link = local_link(profile, ranks);
    return (link.latency.seconds() + bytes / link.bus.bytes_per_second()) * profile.local_slowdown.value;
}

}  // namespace rehearse

#include "kernels/calibration/nccl_rates.hpp"

#include <algorithm>
#include <cmath>

namespace rehearse {

namespace {

constexpr double bytes_per_us_of_gigabyte = 1e3;  // 1 GB/s = 1e3 B/us
constexpr double slack = 1e-9;                    // of binary against decimal figures

// The n with 2 (n-1)/n = factor.
double gpus_of(double factor) { return 2 / (2 - factor); }

}  // namespace

RateSpan rate_span(const NcclSide& side, std::int64_t size) {
    const double bytes = static_cast<double>(size) / bytes_per_us_of_gigabyte;
    const double least = side.time_us.value - side.time_us.half;
    RateSpan span{bytes / (side.time_us.value + side.time_us.half)};
    if (least > 0) span.high = bytes / least;
    return span;
}

bool could_be(const Printed& rate, const NcclSide& side, std::int64_t size, double factor) {
    const RateSpan span = rate_span(side, size);
    const double low = rate.value - rate.half - slack, high = rate.value + rate.half + slack;
    return factor * span.high * (1 + slack) >= low && factor * span.low * (1 - slack) <= high;
}

RateSpan factor_span(const NcclRun& run) {
    RateSpan all;
    for (const NcclRow& row : run.rows) {
        if (row.size == 0) continue;
        for (const auto& side : {row.out_of_place, row.in_place}) {
            if (!side) continue;
            const RateSpan rate = rate_span(*side, row.size);
            const double low = (side->busbw.value - side->busbw.half) / rate.high;
            all.low = std::max(all.low, low * (1 - slack));
            all.high = std::min(all.high, (side->busbw.value + side->busbw.half) / rate.low * (1 + slack));
        }
    }
    return all;
}

double busbw_factor(const std::string& collective, std::int64_t gpus) {
    const double n = static_cast<double>(gpus);
    if (collective == "all_reduce") return 2 * (n - 1) / n;
    for (const char* spread : {"all_gather", "reduce_scatter", "alltoall", "gather", "scatter"}) {
        if (collective == spread) return (n - 1) / n;
    }
    return 1;
}

GpuRange all_reduce_gpus(RateSpan factor) {
    constexpr double most = 1e7;  // beyond any run of nccl-tests: as good as no bound
    GpuRange range;
    if (factor.low > factor.high || factor.low >= 2) return {1, 0};
    range.low = std::max<std::int64_t>(1, std::llround(std::ceil(std::min(most, gpus_of(factor.low)) - 1e-6)));
    if (factor.high < 2 && gpus_of(factor.high) < most)
        range.high = std::llround(std::floor(gpus_of(factor.high) + 1e-6));
    return range;
}

}  // namespace rehearse

// What the rates of a row say, within the rounding of what was printed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "kernels/calibration/nccl_log.hpp"

namespace rehearse {

struct RateSpan {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
};

RateSpan rate_span(const NcclSide& side, std::int64_t size);  // size / time, GB/s
// Could `factor` x size / time have been printed as `rate`?
bool could_be(const Printed& rate, const NcclSide& side, std::int64_t size, double factor);

// busbw / (size / time) over all rows and sides; low > high where no one factor fits them all.
RateSpan factor_span(const NcclRun& run);
// busbw / algbw of a collective on n GPUs.
double busbw_factor(const std::string& collective, std::int64_t gpus);

// The numbers of GPUs n whose all_reduce factor 2 (n-1)/n lies in the span.
GpuRange all_reduce_gpus(RateSpan factor);

}  // namespace rehearse

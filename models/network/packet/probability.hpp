// A probability as a threshold for 64 random bits: the event happens when bits < threshold.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/units.hpp"

namespace rehearse {

inline std::uint64_t probability_threshold(Ratio probability) {
    if (probability.value <= 0) return 0;
    if (probability.value >= 1) return UINT64_MAX;
    return static_cast<std::uint64_t>(std::ldexp(probability.value, 64));
}

}  // namespace rehearse

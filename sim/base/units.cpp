#include "sim/base/units.hpp"

#include <cmath>

namespace rehearse::detail {

std::int64_t round_to_int64(double value) {
    REHEARSE_CHECK(std::isfinite(value) && std::fabs(value) < 9.2e18, "quantity leaves the int64 range");
    return std::llround(value);
}

std::int64_t round_up_to_int64(double value) { return round_to_int64(std::ceil(value)); }

}  // namespace rehearse::detail

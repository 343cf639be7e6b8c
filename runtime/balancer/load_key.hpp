// A load and a number as one integer, so that an order by load, equal ones by number, is one comparison without a
// branch: half of the branches in a sort or a heap are predicted wrong.
//
// The bits of an IEEE 754 number order as the number does once those of a negative one are turned and the others get
// the sign bit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

namespace rehearse {

using LoadKey = detail::Wide;

// `load` is no NaN. Example: light_first(1.5, 3) < light_first(1.5, 4) < light_first(2, 0).
inline LoadKey light_first(double load, std::uint32_t number) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const auto bits = std::bit_cast<std::uint64_t>(load + 0.0);  // -0.0 is 0.0
    return LoadKey{(bits & sign) != 0 ? ~bits : bits | sign} << 32 | LoadKey{number};
}
// heavy_first(2, 0) < heavy_first(1.5, 3) < heavy_first(1.5, 4).
inline LoadKey heavy_first(double load, std::uint32_t number) { return light_first(-load, number); }

inline std::uint32_t number_of(LoadKey key) { return static_cast<std::uint32_t>(key); }

// Keys whose numbers ascend, by load: digit by digit from the last one, which keeps the order of equal loads. A digit
// that all keys share is passed over.
inline void sort_by_load(std::vector<LoadKey>& keys) {
    constexpr unsigned digit_bits = 8, digits = 8;
    std::array<std::array<std::uint32_t, (1U << digit_bits) + 1>, digits> first{};  // place of the first key with it
    const auto digit = [](LoadKey key, unsigned at) {
        return static_cast<std::uint64_t>(key >> 32) >> (at * digit_bits) & ((1U << digit_bits) - 1);
    };
    for (const LoadKey key : keys) {
        for (unsigned at = 0; at < digits; ++at) ++first[at][digit(key, at) + 1];
    }
    std::vector<LoadKey> sorted(keys.size());
    for (unsigned at = 0; at < digits; ++at) {
        if (std::ranges::count(first[at], keys.size()) > 0) continue;
        std::partial_sum(first[at].begin(), first[at].end(), first[at].begin());
        for (const LoadKey key : keys) sorted[first[at][digit(key, at)]++] = key;
        std::swap(keys, sorted);
    }
}

}  // namespace rehearse

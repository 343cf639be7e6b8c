// Figures for people: 1234567 -> "1.23 M".
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

namespace rehearse {

inline std::string short_number(double value, std::string_view unit) {
    constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t step = 0;
    while (std::abs(value) >= 999.5 && step + 1 < std::size(prefixes)) {
        value /= 1000;
        ++step;
    }
    return fmt::format("{:.3g} {}{}", value, prefixes[step], unit);
}

}  // namespace rehearse

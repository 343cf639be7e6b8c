// The tables of units behind units_text.hpp; private to sim/base.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rehearse::detail {

struct Unit {
    std::string_view name;
    std::int64_t scale;   // in the smallest step of the quantity
    bool printed = true;  // false: understood, never written
};

// What one kind of quantity looks like; units from the largest to the smallest.
struct Kind {
    std::string_view noun;     // "a duration"
    std::string_view example;  // "1.5 us"
    std::string_view likely;   // unit that a bare number most likely meant
    std::string_view step;     // "1 ps"
    std::vector<Unit> units;
};

const Kind& duration_kind();
const Kind& bytes_kind();
const Kind& bandwidth_kind();
const Kind& byte_rate_kind();  // the same quantity, written in bytes per second
const Kind& flop_rate_kind();  // scales are powers of ten, given by their exponent
const Kind& ratio_kind();      // likewise

}  // namespace rehearse::detail

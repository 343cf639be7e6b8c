// Plain values as text, beside the quantities of units_text.hpp: what Reader accepts for numbers, switches and words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/switch.hpp"
#include "sim/base/units_text.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

Parsed<std::int64_t> parse_integer(std::string_view text, IntegerRange range);
Parsed<std::uint64_t> parse_unsigned(std::string_view text);  // 0 to 2^64 - 1: seeds and hashes
Parsed<double> parse_real(std::string_view text, RealRange range);
Parsed<Switch> parse_switch(std::string_view text);
// The index of the word.
Parsed<std::size_t> parse_word(std::string_view text, const std::vector<std::string>& words);

}  // namespace rehearse

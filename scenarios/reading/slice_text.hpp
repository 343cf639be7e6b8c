// A slice of a run's traffic as text: bounds joined by `|` or `,`, all of which must hold.
//
//     ranks=0-63 | phase=dp | time=10 ms..20 ms
//
// ranks: a rank or a range, both ends included. phase: pp, dp or embedding. time: of a transfer's start, from the start
// of the step, the end not included.
#pragma once

#include <string>
#include <string_view>

#include "models/network/slice.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

Parsed<SliceSpec> parse_slice(std::string_view text);
std::string format(const SliceSpec& slice);  // parse_slice() takes it back; "" without a bound

}  // namespace rehearse

// Quantities as text. Text always carries a unit ("200 Gbps", "64 KiB", "1.5 us"); a bare number is refused with a
// suggestion. GB = 10^9 B, GiB = 2^30 B; "Gbps" counts bits, "GB/s" counts bytes.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "sim/base/units.hpp"

namespace rehearse {

// What was wrong with a piece of text: the words fit Fault::wrong, Fault::expected and Fault::todo.
struct TextFault {
    std::string wrong;
    std::string expected;
    std::string todo;
};

template <class T>
using Parsed = std::variant<T, TextFault>;

Parsed<SimDuration> parse_duration(std::string_view text);  // ps ns us ms s min h d
Parsed<Bytes> parse_bytes(std::string_view text);           // B kB KB MB GB TB KiB MiB GiB TiB
Parsed<Bandwidth> parse_bandwidth(
    std::string_view text);                               // bps kbps Mbps Gbps Tbps, B/s kB/s MB/s GB/s TB/s (and Gb/s)
Parsed<FlopRate> parse_flop_rate(std::string_view text);  // GFLOP/s TFLOP/s PFLOP/s
Parsed<Ratio> parse_ratio(std::string_view text);         // "73.4 %" or a bare fraction "0.734"

// Shortest exact text in the largest unit that leaves a whole number or <= 6 significant digits; parse(format(x)) == x.
std::string format(SimDuration value);
std::string format(Bytes value);
std::string format(Bandwidth value);
std::string format_byte_rate(Bandwidth value);  // memory, NVLink and PCIe, which the field counts in bytes: "2 TB/s"
std::string format(FlopRate value);
std::string format(Ratio value);

}  // namespace rehearse

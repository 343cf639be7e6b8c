#include "sim/base/units_kinds.hpp"

namespace rehearse::detail {

const Kind& duration_kind() {
    constexpr std::int64_t second = 1'000'000'000'000;
    static const Kind kind{"a duration",
                           "1.5 us",
                           "us",
                           "1 ps",
                           {{"d", 86'400 * second},
                            {"h", 3'600 * second},
                            {"min", 60 * second},
                            {"s", second},
                            {"ms", second / 1'000},
                            {"us", 1'000'000},
                            {"ns", 1'000},
                            {"ps", 1}}};
    return kind;
}

const Kind& bytes_kind() {
    static const Kind kind{"a number of bytes",
                           "64 KiB",
                           "B",
                           "1 B",
                           {{"TiB", std::int64_t{1} << 40},
                            {"TB", 1'000'000'000'000},
                            {"GiB", 1 << 30},
                            {"GB", 1'000'000'000},
                            {"MiB", 1 << 20},
                            {"MB", 1'000'000},
                            {"KiB", 1 << 10},
                            {"kB", 1'000},
                            {"KB", 1'000, false},
                            {"B", 1}}};
    return kind;
}

const Kind& bandwidth_kind() {
    constexpr std::int64_t kilo = 1'000, mega = 1'000'000, giga = 1'000'000'000, tera = 1'000'000'000'000;
    static const Kind kind{"a bandwidth",
                           "200 Gbps",
                           "Gbps",
                           "1 bps",
                           {{"Tbps", tera},
                            {"Gbps", giga},
                            {"Mbps", mega},
                            {"kbps", kilo},
                            {"bps", 1},
                            {"TB/s", 8 * tera, false},
                            {"GB/s", 8 * giga, false},
                            {"MB/s", 8 * mega, false},
                            {"kB/s", 8 * kilo, false},
                            {"B/s", 8, false},
                            {"GiB/s", std::int64_t{8} << 30, false},
                            {"MiB/s", std::int64_t{8} << 20, false},
                            {"Tb/s", tera, false},
                            {"Gb/s", giga, false},
                            {"Mb/s", mega, false},
                            {"kb/s", kilo, false},
                            {"b/s", 1, false}}};
    return kind;
}

const Kind& byte_rate_kind() {
    constexpr std::int64_t kilo = 1'000, mega = 1'000'000, giga = 1'000'000'000, tera = 1'000'000'000'000;
    static const Kind kind{"a bandwidth",
                           "300 GB/s",
                           "GB/s",
                           "1 bps",
                           {{"TB/s", 8 * tera},
                            {"GB/s", 8 * giga},
                            {"MB/s", 8 * mega},
                            {"kB/s", 8 * kilo},
                            {"B/s", 8},
                            {"bps", 1}}};
    return kind;
}

const Kind& flop_rate_kind() {
    static const Kind kind{"a FLOP rate",
                           "312 TFLOP/s",
                           "TFLOP/s",
                           "",
                           {{"EFLOP/s", 18},
                            {"PFLOP/s", 15},
                            {"TFLOP/s", 12},
                            {"GFLOP/s", 9},
                            {"MFLOP/s", 6},
                            {"kFLOP/s", 3},
                            {"FLOP/s", 0},
                            {"PFLOPS", 15, false},
                            {"TFLOPS", 12, false},
                            {"GFLOPS", 9, false}}};
    return kind;
}

const Kind& ratio_kind() {
    static const Kind kind{"a ratio", "0.734\" or \"73.4 %", "", "", {{"%", -2, false}, {"", 0}}};
    return kind;
}

}  // namespace rehearse::detail

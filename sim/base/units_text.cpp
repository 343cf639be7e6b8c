#include "sim/base/units_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "sim/base/fault.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/units_kinds.hpp"

namespace rehearse {

namespace {

using detail::Kind;
using detail::Unit;
using detail::Wide;

// Text cut in two: the decimal number and whatever follows it, blanks dropped.
struct Cut {
    std::string_view number;
    std::string_view unit;
};

std::string_view trim(std::string_view text) {
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// An exponent needs digits after its e, so that "5 EFLOP/s" and "5e" stay a number with a unit.
std::size_t exponent_length(std::string_view text) {
    if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
    std::size_t at = 1;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t digits_from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at == digits_from ? 0 : at;
}

Cut cut_text(std::string_view text) {
    text = trim(text);
    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at > 0 && at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
        ++at;
        while (at < text.size() && is_digit(text[at])) ++at;
    }
    if (at > 0) at += exponent_length(text.substr(at));
    return {text.substr(0, at), trim(text.substr(at))};
}

std::string expected_of(const Kind& kind) { return fmt::format("expected {} such as \"{}\"", kind.noun, kind.example); }

std::string write(std::string_view number, std::string_view unit) {
    return fmt::format("write {}", in_quotes(fmt::format("{} {}", number, unit)));
}

TextFault not_a_number(std::string_view text, const Kind& kind) {
    std::string wrong = fmt::format("{} is not {}", in_quotes(text), kind.noun);
    if (text.empty()) wrong = "the value is empty";
    if (text.size() > 1 && text[0] == '-' && is_digit(text[1])) wrong = fmt::format("{} is negative", in_quotes(text));
    return {wrong, expected_of(kind), ""};
}

TextFault unknown_unit(const Cut& cut, const Kind& kind) {
    std::vector<std::string> names;
    std::string listed;
    for (const Unit& unit : kind.units) {
        names.emplace_back(unit.name);
        if (unit.printed) listed += fmt::format("{}{}", listed.empty() ? "" : ", ", unit.name);
    }
    const std::string near = nearest_word(cut.unit, names);
    return {fmt::format("unknown unit {}", in_quotes(cut.unit)), expected_of(kind),
            near.empty() ? fmt::format("use one of {}", listed) : write(cut.number, near)};
}

// Number and unit of the text, or why not.
struct Measured {
    std::string_view number;
    const Unit* unit;
};

Parsed<Measured> measure_text(std::string_view text, const Kind& kind) {
    const Cut cut = cut_text(text);
    if (cut.number.empty()) return not_a_number(trim(text), kind);
    for (const Unit& unit : kind.units)
        if (unit.name == cut.unit) return Measured{cut.number, &unit};
    if (!cut.unit.empty()) return unknown_unit(cut, kind);
    return TextFault{fmt::format("{} has no unit", in_quotes(cut.number)), expected_of(kind),
                     write(cut.number, kind.likely)};
}

TextFault too_large(std::string_view text, const Kind& kind) {
    return {fmt::format("{} is too large", in_quotes(text)),
            fmt::format("expected {} below 2^63 times {}", kind.noun, kind.step), ""};
}

// number * scale, to the nearest whole step; decimal arithmetic in 128 bits, so every exact value stays exact.
Parsed<std::int64_t> parse_integer(std::string_view text, const Kind& kind) {
    const Parsed<Measured> parsed = measure_text(text, kind);
    if (const auto* fault = std::get_if<TextFault>(&parsed)) return *fault;
    const auto [number, unit] = std::get<Measured>(parsed);
    constexpr std::size_t most_digits = 19;  // mantissa < 10^19 < 2^64 and scale < 2^57: the product fits 127 bits
    Wide mantissa = 0;
    Wide divisor = 1;
    std::size_t significant = 0;
    bool fraction = false;
    for (const char c : number) {
        if (c == 'e' || c == 'E')
            return TextFault{fmt::format("{} has an exponent", in_quotes(number)), expected_of(kind),
                             "write the number out"};
        if (c == '.') {
            fraction = true;
            continue;
        }
        if (significant > 0 || c != '0') ++significant;
        if (significant > most_digits && !fraction) return too_large(trim(text), kind);
        if (significant > most_digits || divisor > Wide{100'000'000'000'000'000})
            return TextFault{fmt::format("{} has too many digits", in_quotes(number)), expected_of(kind), "round it"};
        mantissa = mantissa * 10 + (c - '0');
        if (fraction) divisor *= 10;
    }
    const Wide scaled = (mantissa * unit->scale + divisor / 2) / divisor;
    if (scaled > INT64_MAX) return too_large(trim(text), kind);
    if (scaled == 0 && mantissa != 0)
        return TextFault{fmt::format("{} is less than half of {}", in_quotes(trim(text)), kind.step), expected_of(kind),
                         ""};
    return static_cast<std::int64_t>(scaled);
}

// number * 10^scale, correctly rounded: the exponent is moved in the text, not multiplied in binary.
Parsed<double> parse_real(std::string_view text, const Kind& kind) {
    const Parsed<Measured> parsed = measure_text(text, kind);
    if (const auto* fault = std::get_if<TextFault>(&parsed)) return *fault;
    const auto [number, unit] = std::get<Measured>(parsed);
    const std::size_t e = number.find_first_of("eE");
    std::int64_t exponent = unit->scale;
    if (e != std::string_view::npos) {
        std::int64_t own = 0;
        const std::size_t from = e + (number[e + 1] == '+' ? 2 : 1);
        const auto result = std::from_chars(number.data() + from, number.data() + number.size(), own);
        if (result.ec != std::errc{} || std::llabs(own) > 100'000) own = own < 0 ? -100'000 : 100'000;
        exponent += own;
    }
    const std::string moved = fmt::format("{}e{}", number.substr(0, e), exponent);
    double value = 0;
    const auto result = std::from_chars(moved.data(), moved.data() + moved.size(), value);
    if (result.ec != std::errc{} || !std::isfinite(value))
        return TextFault{fmt::format("{} is outside of the range of a double", in_quotes(trim(text))),
                         expected_of(kind), ""};
    return value;
}

template <class T, class U>
Parsed<T> wrap(Parsed<U> parsed) {
    if (const auto* fault = std::get_if<TextFault>(&parsed)) return *fault;
    return T{std::get<U>(parsed)};
}

}  // namespace

Parsed<SimDuration> parse_duration(std::string_view text) {
    return wrap<SimDuration>(parse_integer(text, detail::duration_kind()));
}
Parsed<Bytes> parse_bytes(std::string_view text) { return wrap<Bytes>(parse_integer(text, detail::bytes_kind())); }
Parsed<Bandwidth> parse_bandwidth(std::string_view text) {
    return wrap<Bandwidth>(parse_integer(text, detail::bandwidth_kind()));
}
Parsed<FlopRate> parse_flop_rate(std::string_view text) {
    return wrap<FlopRate>(parse_real(text, detail::flop_rate_kind()));
}
Parsed<Ratio> parse_ratio(std::string_view text) { return wrap<Ratio>(parse_real(text, detail::ratio_kind())); }

}  // namespace rehearse

#include "sim/config/scalar_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/base/nearest.hpp"

namespace rehearse {

namespace {

bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string expected_integer(IntegerRange range) {
    if (range.max == std::numeric_limits<std::int64_t>::max()) {
        if (range.min == std::numeric_limits<std::int64_t>::min()) return "expected an integer";
        return fmt::format("expected an integer of at least {}", range.min);
    }
    return fmt::format("expected an integer from {} to {}", range.min, range.max);
}

std::string expected_real(RealRange range) {
    if (std::isinf(range.min) && std::isinf(range.max)) return "expected a number";
    if (std::isinf(range.max)) return fmt::format("expected a number of at least {}", range.min);
    if (std::isinf(range.min)) return fmt::format("expected a number of at most {}", range.max);
    return fmt::format("expected a number from {} to {}", range.min, range.max);
}

// Refuses what other readers would take for octal, hexadecimal or a rounded real.
template <class Integer>
Parsed<Integer> parse_decimal(std::string_view text, const std::string& expected) {
    const std::string_view digits = !text.empty() && text[0] == '-' ? text.substr(1) : text;
    if (!all_digits(digits)) {
        const bool real = std::holds_alternative<double>(parse_real(text, any_real()));
        return TextFault{fmt::format("{} is not an integer", in_quotes(text)), expected,
                         real ? "write all digits and no point" : ""};
    }
    if (digits.size() > 1 && digits[0] == '0')
        return TextFault{fmt::format("{} begins with a zero, which some readers take for octal", in_quotes(text)),
                         expected, "leave leading zeros out"};
    Integer value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc{}) return value;
    return TextFault{fmt::format("{} is out of range", in_quotes(text)), expected, ""};
}

}  // namespace

Parsed<std::int64_t> parse_integer(std::string_view text, IntegerRange range) {
    const std::string expected = expected_integer(range);
    const Parsed<std::int64_t> parsed = parse_decimal<std::int64_t>(text, expected);
    const auto* value = std::get_if<std::int64_t>(&parsed);
    if (value == nullptr || (*value >= range.min && *value <= range.max)) return parsed;
    return TextFault{fmt::format("{} is out of range", *value), expected, ""};
}

Parsed<std::uint64_t> parse_unsigned(std::string_view text) {
    const std::string expected = "expected an integer from 0 to 18446744073709551615";
    if (!text.empty() && text[0] == '-')
        return TextFault{fmt::format("{} is out of range", in_quotes(text)), expected, ""};
    return parse_decimal<std::uint64_t>(text, expected);
}

Parsed<double> parse_real(std::string_view text, RealRange range) {
    const std::string expected = expected_real(range);
    const TextFault not_a_number{fmt::format("{} is not a number", in_quotes(text)), expected, ""};
    const std::string_view digits = !text.empty() && text[0] == '-' ? text.substr(1) : text;
    if (digits.empty() || digits[0] < '0' || digits[0] > '9') return not_a_number;  // also nan, inf, .5
    if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return not_a_number;
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ptr != text.data() + text.size()) return not_a_number;
    if (result.ec != std::errc{} || !(value >= range.min && value <= range.max))
        return TextFault{fmt::format("{} is out of range", in_quotes(text)), expected, ""};
    return value;
}

Parsed<Switch> parse_switch(std::string_view text) {
    if (text == "on" || text == "true" || text == "yes") return Switch::on;
    if (text == "off" || text == "false" || text == "no") return Switch::off;
    return TextFault{fmt::format("{} is no switch", in_quotes(text)), "expected on or off", ""};
}

Parsed<std::size_t> parse_word(std::string_view text, const std::vector<std::string>& words) {
    std::string listed;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == text) return i;
        listed += fmt::format("{}{}", i == 0 ? "" : ", ", words[i]);
    }
    const std::string near = nearest_word(text, words);
    return TextFault{fmt::format("{} is unknown", in_quotes(text)), fmt::format("expected one of {}", listed),
                     near.empty() ? "" : fmt::format("did you mean \"{}\"?", near)};
}

}  // namespace rehearse

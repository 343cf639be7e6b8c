#include "sim/base/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/units_kinds.hpp"

namespace rehearse {

namespace {

using detail::Kind;
using detail::Unit;
using detail::Wide;

// value / scale in decimal if it is whole, or exact with at most six significant digits and not below one; else "".
std::string exact_decimal(Wide value, std::int64_t scale) {
    constexpr std::size_t most_digits = 6;
    const auto whole = static_cast<std::uint64_t>(value / scale);  // up to 2^63, for the smallest int64
    Wide rest = value % scale;
    std::string digits = fmt::format("{}", whole);
    if (rest == 0) return digits;
    if (whole == 0) return "";
    const std::size_t whole_digits = digits.size();
    digits += '.';
    for (std::size_t i = whole_digits; i < most_digits && rest != 0; ++i) {
        rest *= 10;
        digits += static_cast<char>('0' + static_cast<int>(rest / scale));
        rest %= scale;
    }
    return rest == 0 ? digits : "";
}

std::string format_integer(std::int64_t value, const Kind& kind) {
    const Wide size = value < 0 ? -Wide{value} : Wide{value};
    if (size == 0) return fmt::format("0 {}", kind.units.back().name);
    for (const Unit& unit : kind.units) {
        if (!unit.printed || size < unit.scale) continue;
        const std::string digits = exact_decimal(size, unit.scale);
        if (!digits.empty()) return fmt::format("{}{} {}", value < 0 ? "-" : "", digits, unit.name);
    }
    return "";  // not reached: the smallest unit has scale 1
}

// The digits of the shortest decimal that reads back as this double, and how many of them stand before the point.
struct Digits {
    std::string text;
    std::int64_t before_point = 0;
};

Digits shortest_digits(double value) {
    Digits digits;
    const std::string text = fmt::format("{}", value);
    const std::size_t end = std::min(text.find('e'), text.size());
    const std::size_t point = std::min(text.find('.'), end);
    digits.text = text.substr(0, point);
    digits.before_point = static_cast<std::int64_t>(point);
    if (point < end) digits.text += text.substr(point + 1, end - point - 1);
    if (end < text.size()) digits.before_point += std::stoll(text.substr(end + 1));
    return digits;
}

// value / 10^shift, written out. Moving the point in the text keeps every digit.
std::string shifted_decimal(double value, std::int64_t shift) {
    Digits digits = shortest_digits(value);
    std::int64_t point = digits.before_point - shift;
    if (point < 1) {
        digits.text.insert(0, static_cast<std::size_t>(1 - point), '0');
        point = 1;
    }
    if (static_cast<std::int64_t>(digits.text.size()) < point) digits.text.resize(static_cast<std::size_t>(point), '0');
    std::string whole = digits.text.substr(0, static_cast<std::size_t>(point));
    std::string part = digits.text.substr(static_cast<std::size_t>(point));
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
    part.erase(part.find_last_not_of('0') + 1);
    return part.empty() ? whole : whole + "." + part;
}

}  // namespace

std::string format(SimDuration value) { return format_integer(value.value, detail::duration_kind()); }
std::string format(Bytes value) { return format_integer(value.value, detail::bytes_kind()); }
std::string format(Bandwidth value) { return format_integer(value.value, detail::bandwidth_kind()); }
std::string format_byte_rate(Bandwidth value) { return format_integer(value.value, detail::byte_rate_kind()); }
std::string format(Ratio value) { return fmt::format("{}", value.value); }

std::string format(FlopRate value) {
    REHEARSE_CHECK(std::isfinite(value.value), "a FLOP rate is not finite");
    const double size = std::fabs(value.value);
    const Kind& kind = detail::flop_rate_kind();
    const Unit* best = nullptr;  // the largest unit below the value, at least the smallest one
    for (const Unit& unit : kind.units) {
        if (!unit.printed) continue;
        best = &unit;
        if (size >= std::pow(10.0, static_cast<double>(unit.scale))) break;
    }
    if (size == 0) return fmt::format("0 {}", kind.likely);
    return fmt::format("{}{} {}", value.value < 0 ? "-" : "", shifted_decimal(size, best->scale), best->name);
}

}  // namespace rehearse

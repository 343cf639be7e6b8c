#include "scenarios/reading/slice_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <variant>
#include <vector>

#include "sim/base/fault.hpp"
#include "sim/base/nearest.hpp"
#include "sim/config/scalar_text.hpp"

namespace rehearse {

namespace {

constexpr std::string_view form = "ranks=0-63|phase=dp|time=10 ms..20 ms, or some of these";

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == text.npos) return "";
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "a..b" at the mark; the second part is empty where there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == text.npos) return {trim(text), ""};
    return {trim(text.substr(0, at)), trim(text.substr(at + mark.size()))};
}

using Wrong = std::optional<TextFault>;

template <class T>
Wrong take(const Parsed<T>& parsed, T& value) {
    if (const auto* wrong = std::get_if<TextFault>(&parsed)) return *wrong;
    value = std::get<T>(parsed);
    return {};
}

Wrong read_ranks(std::string_view text, SliceSpec& slice) {
    const auto [first, last] = cut(text, "-");
    SliceSpec::Ranks ranks;
    if (const Wrong wrong = take(parse_integer(first, {0, UINT32_MAX}), ranks.first)) return wrong;
    ranks.last = ranks.first;
    if (text.find('-') != text.npos) {
        if (const Wrong wrong = take(parse_integer(last, {0, UINT32_MAX}), ranks.last)) return wrong;
    }
    if (ranks.last < ranks.first)
        return TextFault{fmt::format("the ranks end at {}, before {}", ranks.last, ranks.first), "FIRST-LAST", ""};
    slice.ranks = ranks;
    return {};
}

Wrong read_phase(std::string_view text, SliceSpec& slice) {
    if (text == "tp" || text == "cp")
        return TextFault{fmt::format("collectives of {} are priced in closed form and send no packets", text),
                         "pp, dp or embedding", ""};
    for (const TrafficKind kind : {TrafficKind::pipeline, TrafficKind::data, TrafficKind::embedding}) {
        if (text != name(kind)) continue;
        slice.phase = kind;
        return {};
    }
    return TextFault{fmt::format("no traffic is called {}", in_quotes(std::string(text))), "pp, dp or embedding", ""};
}

Wrong read_time(std::string_view text, SliceSpec& slice) {
    if (text.find("..") == text.npos)
        return TextFault{fmt::format("{} is no span of time", in_quotes(std::string(text))), "BEGIN..END", ""};
    const auto [begin, end] = cut(text, "..");
    SliceSpec::Time time;
    if (const Wrong wrong = take(parse_duration(begin), time.begin)) return wrong;
    if (const Wrong wrong = take(parse_duration(end), time.end)) return wrong;
    if (time.end <= time.begin)
        return TextFault{fmt::format("the time ends at {}, and begins at {}", format(time.end), format(time.begin)),
                         "a later end", ""};
    slice.time = time;
    return {};
}

Wrong read_bound(std::string_view text, SliceSpec& slice) {
    const auto [key, value] = cut(text, "=");
    const auto once = [&, name = key](bool is_set) -> Wrong {
        if (!is_set) return {};
        return TextFault{fmt::format("{} is bounded twice", name), "each bound once", ""};
    };
    Wrong wrong;
    if (key == "ranks") return (wrong = once(slice.ranks.has_value())) ? wrong : read_ranks(value, slice);
    if (key == "phase") return (wrong = once(slice.phase.has_value())) ? wrong : read_phase(value, slice);
    if (key == "time") return (wrong = once(slice.time.has_value())) ? wrong : read_time(value, slice);
    const std::string near = nearest_word(std::string(key), {"ranks", "phase", "time"});
    return TextFault{fmt::format("{} bounds nothing", in_quotes(std::string(key))), std::string(form),
                     near.empty() ? "" : fmt::format("did you mean \"{}\"?", near)};
}

}  // namespace

Parsed<SliceSpec> parse_slice(std::string_view text) {
    SliceSpec slice;
    for (bool more = true; more;) {
        const std::size_t end = text.find_first_of("|,");
        if (const Wrong wrong = read_bound(trim(text.substr(0, end)), slice)) return *wrong;
        more = end != text.npos;
        if (more) text.remove_prefix(end + 1);
    }
    return slice;
}

std::string format(const SliceSpec& slice) {
    std::vector<std::string> bounds;
    if (slice.ranks) bounds.push_back(fmt::format("ranks={}-{}", slice.ranks->first, slice.ranks->last));
    if (slice.phase) bounds.push_back(fmt::format("phase={}", name(*slice.phase)));
    if (slice.time)
        bounds.push_back(fmt::format("time={}..{}", format(slice.time->begin), format(slice.time->end)));
    return fmt::format("{}", fmt::join(bounds, "|"));
}

}  // namespace rehearse

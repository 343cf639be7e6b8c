// The rows of nccl_line.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernels/calibration/nccl_line.hpp"
#include "kernels/calibration/nccl_rates.hpp"

namespace rehearse {

namespace {

constexpr std::size_t prefix_words_most = 12;  // of other programs, in front of a row

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_integer(std::string_view word) { return !word.empty() && std::all_of(word.begin(), word.end(), is_digit); }

std::optional<std::int64_t> integer(std::string_view word) {
    std::int64_t value = 0;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || end.ec != std::errc{} || end.ptr != word.data() + word.size()) return std::nullopt;
    return value;
}

// "67.5", "0", "1.3e+06"; no sign, no nan, no inf.
std::optional<Printed> figure(std::string_view word) {
    if (word.empty() || !is_digit(word[0])) return std::nullopt;
    Printed printed;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), printed.value);
    if (end.ec != std::errc{} || end.ptr != word.data() + word.size()) return std::nullopt;
    const std::size_t exponent_at = std::min(word.find('e'), word.size());
    const std::size_t point = word.find('.');
    const int decimals = point == word.npos ? 0 : static_cast<int>(exponent_at - point - 1);
    int exponent = 0;
    if (exponent_at < word.size()) {
        std::string_view digits = word.substr(exponent_at + 1);
        if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    }
    printed.half = 0.5 * std::pow(10, exponent - decimals);
    return printed;
}

// As C prints it: an exponent has two digits at least. What is shorter was cut.
bool ends_well(std::string_view word) {
    const std::size_t at = word.find('e');
    return at == word.npos || word.size() - at >= 4;
}

// A size with what other programs glue in front of it: "[1,0]<stdout>:33554432".
std::string_view trailing_integer(std::string_view word) {
    std::size_t begin = word.size();
    while (begin > 0 && is_digit(word[begin - 1])) --begin;
    const bool alone = begin == 0 || word[begin - 1] == ':' || word[begin - 1] == '>' || word[begin - 1] == ']';
    return alone ? word.substr(begin) : std::string_view{};
}

bool is_operation(const std::string& word) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    return word != "nan" && word != "inf" && std::all_of(word.begin(), word.end(), letter);
}

// Position of the type of an element; 0 = none.
std::size_t type_position(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < std::min(words.size(), prefix_words_most); ++i) {
        if (element_bytes(words[i]) > 0) return i;
    }
    return 0;
}

BrokenRow broken(std::string reason, BrokenRow::What what = BrokenRow::What::wrong) {
    return {std::move(reason), what};
}

// Reads one side from cells[at...]; none when its time is N/A.
struct SideOutcome {
    std::optional<NcclSide> side;
    std::string wrong;  // "" = sound
};
SideOutcome read_side(const std::vector<std::string>& cells, std::size_t at, const NcclLayout& layout) {
    NcclSide side;
    if (cells[at] == "N/A") return {};
    const auto time = figure(cells[at]), algbw = figure(cells[at + 1]), busbw = figure(cells[at + 2]);
    if (!time || time->value <= 0) return {{}, fmt::format("the time {} is no positive number", in_quotes(cells[at]))};
    for (const std::size_t rate : {at + 1, at + 2}) {
        if (!figure(cells[rate])) return {{}, fmt::format("the rate {} is no number", in_quotes(cells[rate]))};
    }
    side.time_us = *time;
    side.algbw = *algbw;
    side.busbw = *busbw;
    if (layout.cells < 4 || cells[at + 3] == "N/A") return {side, ""};
    const auto wrong = figure(cells[at + 3]);
    if (!wrong || !ends_well(cells[at + 3]))
        return {{}, fmt::format("the count of wrong elements {} is no number", in_quotes(cells[at + 3]))};
    side.wrong = wrong->value;
    return {side, ""};
}

// The layout that a row without header has by the number of its cells.
std::optional<NcclLayout> layout_by_number(std::size_t cells) {
    if (cells == 8 || cells == 9) return NcclLayout{2, 4, static_cast<int>(cells - 8), 0, 0};
    if (cells == 6 || cells == 7) return NcclLayout{2, 3, static_cast<int>(cells - 6), 0, 0};
    return std::nullopt;
}

// Figures only, behind a root that may be -1.
bool is_beginning(const std::vector<std::string>& cells) {
    if (cells.empty()) return true;
    const bool root = cells[0] == "-1";
    return (root && cells.size() == 1) || all_cells({cells.begin() + (root ? 1 : 0), cells.end()});
}

RowOutcome read_cells(NcclRow row, const std::vector<std::string>& cells, const NcclLayout& layout) {
    const std::size_t expected = static_cast<std::size_t>(layout.root + layout.sides * layout.cells);
    const std::size_t timestamp = static_cast<std::size_t>(layout.timestamp);
    if (cells.size() < expected || cells.size() > expected + timestamp)
        return broken(
            fmt::format("{} cells after the type and operation, {} expected", cells.size(), expected),
            cells.size() < expected && is_beginning(cells) ? BrokenRow::What::unfinished : BrokenRow::What::wrong);
    std::size_t at = 0;
    if (layout.root == 1) {
        row.root = integer(cells[at]);
        if (!row.root || *row.root < -1) return broken(fmt::format("the root {} is no rank", in_quotes(cells[at])));
        ++at;
    }
    for (int side = 0; side < layout.sides; ++side, at += static_cast<std::size_t>(layout.cells)) {
        SideOutcome outcome = read_side(cells, at, layout);
        if (!outcome.wrong.empty()) return broken(outcome.wrong);
        (side == 0 ? row.out_of_place : row.in_place) = outcome.side;
    }
    if (!row.out_of_place && !row.in_place) return broken("no time on either side");
    if (!parts_of(row)) return broken("size is no whole multiple of count times the bytes of an element");
    return row;
}

// The last word of a text that ends without a line break may be cut. Rates have two decimals, errors an exponent.
bool may_be_cut(const std::string& word, const NcclLayout& layout) {
    if (word == "N/A" || layout.timestamp > 0) return false;
    if (layout.cells == 4) return layout.error == 1 && word.find('e') == word.npos;
    const std::size_t point = word.find('.');
    return point == word.npos || word.size() - point < 3;
}

}  // namespace

std::optional<std::int64_t> parts_of(const NcclRow& row) {
    if (row.size == 0 && row.count == 0) return 0;
    const std::int64_t bytes = element_bytes(row.type);
    if (row.count <= 0 || row.size <= 0 || row.count > row.size) return std::nullopt;
    if (row.size % row.count != 0 || (row.size / row.count) % bytes != 0) return std::nullopt;
    return row.size / row.count / bytes;
}

bool rates_agree(const NcclRow& row) {
    const double parts = static_cast<double>(std::max<std::int64_t>(1, parts_of(row).value_or(1)));
    const auto agrees = [&](const std::optional<NcclSide>& side) {
        return !side || could_be(side->algbw, *side, row.size, 1) ||
               could_be(side->algbw, *side, row.size, (parts - 1) / parts);
    };
    return agrees(row.out_of_place) && agrees(row.in_place);
}

bool begins_row(const std::vector<std::string>& words) {
    const std::size_t type = type_position(words);
    return type >= 2 && words[0][0] != '#' && is_integer(words[type - 1]) && !trailing_integer(words[type - 2]).empty();
}

RowOutcome parse_row(const std::vector<std::string>& words, const std::optional<NcclLayout>& layout, LineEnd end) {
    if (words.empty() || words[0][0] == '#') return NoRow{};
    const std::size_t type = type_position(words);
    const auto numbers = std::count_if(words.begin() + static_cast<std::ptrdiff_t>(type), words.end(),
                                       [](const std::string& word) { return figure(word) || word == "N/A"; });
    if (type == 0) {
        const bool looks_so = layout && words.size() >= 8 && numbers >= 6 && is_integer(words[0]);
        return looks_so ? RowOutcome(broken("no type of element is known here")) : RowOutcome(NoRow{});
    }
    if (!begins_row(words)) {
        return numbers >= 3 ? RowOutcome(broken("size and count are not two whole numbers")) : RowOutcome(NoRow{});
    }
    NcclRow row;
    const auto size = integer(trailing_integer(words[type - 2])), count = integer(words[type - 1]);
    if (!size || !count) return broken("size or count is out of range");
    row.size = *size;
    row.count = *count;
    row.type = words[type];
    std::vector<std::string> cells(words.begin() + static_cast<std::ptrdiff_t>(type) + 1, words.end());
    if (!cells.empty() && is_operation(cells[0])) {
        row.redop = cells[0];
        cells.erase(cells.begin());
    }
    const std::optional<NcclLayout> used = layout ? layout : layout_by_number(cells.size());
    if (!used && numbers < 3) return NoRow{};
    if (!used) return broken("no header above says which columns these are", BrokenRow::What::unfinished);
    RowOutcome outcome = read_cells(row, cells, *used);
    auto* wrong = std::get_if<BrokenRow>(&outcome);
    if (wrong != nullptr && end == LineEnd::cut) wrong->reason += " (the text ends here)";
    if (wrong != nullptr) return outcome;
    if (!layout && !rates_agree(std::get<NcclRow>(outcome)))
        return broken("no header above says which columns these are, and read as usual the rates contradict the time");
    if (end == LineEnd::cut && may_be_cut(words.back(), *used)) return broken("the text ends within the row");
    return outcome;
}

}  // namespace rehearse

#include "kernels/calibration/nccl_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace rehearse {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Length of the terminal sequence or no-break space at `at`, 0 = none.
std::size_t blank_length(std::string_view raw, std::size_t at) {
    if (raw.substr(at, 2) == "\xc2\xa0") return 2;
    if (raw.substr(at, 3) == "\xef\xbb\xbf") return 3;
    if (raw.substr(at, 2) != "\x1b[") return 0;
    std::size_t end = at + 2;
    while (end < raw.size() && (is_digit(raw[end]) || raw[end] == ';')) ++end;
    return end < raw.size() ? end + 1 - at : 0;
}

std::string with_plain_blanks(std::string_view raw) {
    std::string text;
    text.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size();) {
        if (const std::size_t length = blank_length(raw, i)) {
            i += length;
            text += ' ';
            continue;
        }
        const char c = raw[i++];
        text += c == '\t' || c == '\r' || c == '|' ? ' ' : c;
    }
    return text;
}

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = text.find_first_not_of(' ', at);
        if (begin == text.npos) break;
        at = std::min(text.find(' ', begin), text.size());
        words.emplace_back(text.substr(begin, at - begin));
    }
    return words;
}

// Takes "12: " off the text.
std::string take_rank(std::string& text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == begin || end == text.size() || text[end] != ':') return "";
    if (end + 1 < text.size() && text[end + 1] != ' ') return "";
    const std::string tag = text.substr(begin, end + 1 - begin);
    text.erase(0, end + 1);
    return tag;
}

// Takes "[1,0]<stdout>:" and what stands before it off the text.
std::string take_stream(std::string& text) {
    constexpr std::size_t longest = 120;
    for (const char* stream : {"<stdout>:", "<stderr>:"}) {
        const std::size_t at = text.find(stream);
        if (at == text.npos || at > longest) continue;
        const std::size_t open = text.rfind('[', at);
        const std::size_t close = text.rfind(']', at);
        const bool bracketed = open < close && close < at;
        std::string tag = bracketed ? text.substr(open, close + 1 - open) : "";
        text.erase(0, at + std::string_view(stream).size());
        return tag;
    }
    return "";
}

// "node01:195:195": a name, a process and a thread.
bool is_host(const std::string& word) {
    const std::size_t last = word.rfind(':');
    if (last == word.npos || last == 0 || last + 1 == word.size()) return false;
    const std::size_t first = word.rfind(':', last - 1);
    if (first == word.npos || first == 0 || first + 1 == last) return false;
    const auto digits = [](std::string_view text) { return std::all_of(text.begin(), text.end(), is_digit); };
    return digits(std::string_view(word).substr(last + 1)) &&
           digits(std::string_view(word).substr(first + 1, last - first - 1));
}

// The part of a row that stands in front of a host's name without a blank, "" = none: what ends a piece of a row.
std::string glued_cell(const std::string& word) {
    for (const char* cell : {"-1", "N/A", "none", "sum", "prod", "max", "min", "avg", "float", "half", "bfloat16"}) {
        if (word.rfind(cell, 0) == 0) return cell;
    }
    if (word.size() > 5 && is_digit(word[0]) && word.substr(1, 2) == "e-" && is_digit(word[3]))
        return word.substr(0, 5);
    if (word.size() > 5 && word.substr(1, 3) == "e+0") return word.substr(0, 5);
    return is_digit(word[0]) && !is_digit(word[1]) ? word.substr(0, 1) : "";
}

bool is_cell(const std::string& word) {
    return word == "N/A" ||
           (!word.empty() && is_digit(word[0]) && word.find_first_not_of("0123456789.e+-") == word.npos);
}

}  // namespace

LogLine split_line(std::string_view raw) {
    LogLine line;
    line.text = with_plain_blanks(raw);
    line.tag = take_rank(line.text);
    line.tag += take_stream(line.text);
    line.words = split_words(line.text);
    return line;
}

std::optional<Message> find_message(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        if (words[i] != "NCCL") continue;
        const std::string& kind = words[i + 1];
        if (kind != "INFO" && kind != "WARN" && kind != "TRACE") continue;
        std::size_t host = i;
        while (host > 0 && !is_host(words[host])) --host;
        Message message;
        message.before.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(host));
        // A name alone ("node01:1:1") is no cell; a row's last one may stand right in front of it.
        const std::string glued = host > 0 ? glued_cell(words[host]) : "";
        if (!glued.empty()) message.before.push_back(glued);
        return message;
    }
    return std::nullopt;
}

std::optional<NcclLayout> parse_header(const std::vector<std::string>& all) {
    std::vector<std::string> words = all;
    const auto size = std::find(words.begin(), words.end(), "size");
    const auto hash_size = std::find(words.begin(), words.end(), "#size");
    words.erase(words.begin(), size != words.end() ? size : hash_size);
    if (words.size() < 6 || words[1] != "count" || words[2] != "type") return std::nullopt;
    std::size_t at = 3;
    NcclLayout layout{0, 0, 0, 0, 0};
    if (words[at] == "redop") ++at;
    if (at < words.size() && words[at] == "root") ++at, layout.root = 1;
    while (at < words.size() && words[at].rfind("time", 0) == 0 && words[at] != "timestamp") {
        if (at + 2 >= words.size() || words[at + 1] != "algbw" || words[at + 2] != "busbw") return std::nullopt;
        at += 3;
        int cells = 3;
        const std::string last = at < words.size() ? words[at] : "";
        if (last == "#wrong" || last == "wrong" || last == "error") ++at, ++cells;
        if (last == "error") layout.error = 1;
        if (layout.sides > 0 && cells != layout.cells) return std::nullopt;
        layout.cells = cells;
        ++layout.sides;
    }
    if (at < words.size() && words[at] == "timestamp") ++at, layout.timestamp = 2;
    if (layout.sides == 0 || layout.sides > 2 || at != words.size()) return std::nullopt;
    return layout;
}

bool all_cells(const std::vector<std::string>& words) {
    return !words.empty() && std::all_of(words.begin(), words.end(), is_cell);
}

std::int64_t element_bytes(std::string_view type) {
    struct Type {
        const char* name;
        std::int64_t bytes;
    };
    static constexpr std::array<Type, 20> types{
        {{"float", 4},   {"half", 2},  {"bfloat16", 2}, {"double", 8}, {"int8", 1},   {"uint8", 1},   {"int32", 4},
         {"uint32", 4},  {"int64", 8}, {"uint64", 8},   {"char", 1},   {"int", 4},    {"float16", 2}, {"float32", 4},
         {"float64", 8}, {"bf16", 2},  {"fp16", 2},     {"f8e4m3", 1}, {"f8e5m2", 1}, {"fp8", 1}}};
    if (type == "fp8_e4m3" || type == "fp8_e5m2") return 1;
    const auto found = std::find_if(types.begin(), types.end(), [&](const Type& t) { return type == t.name; });
    return found == types.end() ? 0 : found->bytes;
}

}  // namespace rehearse

#include "sim/config/yaml_writer.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// A careful subset of what YAML allows plain; also safe inside [ ] and { }.
bool safe_plain(std::string_view text) {
    if (text.empty() || text.back() == ' ') return false;
    const bool sign = text.size() > 1 && text[0] == '-' && is_letter_or_digit(text[1]);
    if (!is_letter_or_digit(text[0]) && text[0] != '_' && text[0] != '/' && text[0] != '.' && !sign) return false;
    if (text.substr(0, 3) == "..." || text == "null" || text == "Null" || text == "NULL") return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter_or_digit(c) || std::string_view("_-+./% ()").find(c) != std::string_view::npos;
    });
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
    if (safe_plain(text)) return std::string(text);
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') out += {'\\', c};
        else if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\x{:02x}", static_cast<unsigned>(byte));
        else out += c;
    }
    return out + "\"";
}

void YamlWriter::indent() {
    if (after_dash_) {
        after_dash_ = false;
        return;
    }
    // An item's keys stand under the first one, two columns right of its dash; a list is indented within its map.
    text_.append(2 * open_.size(), ' ');
}

void YamlWriter::comment(std::string_view text) {
    REHEARSE_CHECK(!after_dash_, "a comment between an item and its first key");
    while (true) {
        const std::size_t end = text.find('\n');
        indent();
        text_ += end == 0 || text.empty() ? "#" : fmt::format("# {}", text.substr(0, end));
        text_ += '\n';
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

void YamlWriter::line(std::string_view key, std::string_view value, std::string_view comment) {
    REHEARSE_CHECK(open_.empty() || open_.back().level != Level::list, "a key directly in a list");
    REHEARSE_CHECK(comment.find('\n') == std::string_view::npos, "a comment of several lines behind a value");
    if (!open_.empty()) open_.back().empty = false;
    indent();
    text_ += yaml_scalar(key) + ":";
    if (!value.empty()) text_ += fmt::format(" {}", value);
    if (!comment.empty()) text_ += fmt::format("  # {}", comment);
    text_ += '\n';
}

void YamlWriter::begin(std::string_view key, std::string_view comment, Level level) {
    line(key, "", comment);
    open_.push_back({level});
}

void YamlWriter::begin_map(std::string_view key, std::string_view comment) { begin(key, comment, Level::map); }
void YamlWriter::begin_list(std::string_view key, std::string_view comment) { begin(key, comment, Level::list); }

void YamlWriter::begin_item() {
    REHEARSE_CHECK(!open_.empty() && open_.back().level == Level::list, "an item outside of a list");
    open_.back().empty = false;
    indent();
    text_ += "- ";
    open_.push_back({Level::item});
    after_dash_ = true;
}

void YamlWriter::end() {
    REHEARSE_CHECK(!open_.empty(), "an end without a begin");
    const Open closed = open_.back();
    if (closed.empty) {  // an empty block would read as null
        const std::string_view bare = closed.level == Level::list ? "[]" : "{}";
        if (!after_dash_) indent();
        text_ += fmt::format("{}\n", bare);
    }
    after_dash_ = false;
    open_.pop_back();
}

void YamlWriter::value(std::string_view key, double number, std::string_view comment) {
    REHEARSE_CHECK(std::isfinite(number), "a number that is not finite");
    line(key, fmt::format("{}", number), comment);
}

void YamlWriter::value(std::string_view key, Switch state, std::string_view comment) {
    line(key, is_on(state) ? "on" : "off", comment);
}

void YamlWriter::list(std::string_view key, const std::vector<std::string>& items, std::string_view comment) {
    std::string joined;
    for (const std::string& item : items) joined += fmt::format("{}{}", joined.empty() ? "" : ", ", yaml_scalar(item));
    line(key, fmt::format("[{}]", joined), comment);
}

const std::string& YamlWriter::text() const {
    REHEARSE_CHECK(open_.empty(), "a map or list is still open");
    return text_;
}

}  // namespace rehearse

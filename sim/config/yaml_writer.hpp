// Writes nested maps, lists and single values as YAML that load_config() reads back to the same tree.
//
//     YamlWriter yaml;
//     yaml.comment("Every default spelled out.");
//     yaml.begin_map("node");
//     yaml.value("gpus", 8);
//     yaml.value("nic", gigabits_per_second(200), "one per GPU");   // nic: 200 Gbps  # one per GPU
//     yaml.list("rank_order", {"tensor", "data"});                  // rank_order: [tensor, data]
//     yaml.end();
//
// Order is the order of the calls. Quantities are written exactly (format() of units_text.hpp), reals with the fewest
// digits that read back equal, text in quotes where YAML needs them. Mismatched begin/end, or a key in a list, is an
// InvariantBroken error.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/switch.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

// The text as one YAML scalar: plain when that is safe, else in double quotes.
std::string yaml_scalar(std::string_view text);

class YamlWriter {
public:
    void comment(std::string_view text);  // a line of its own (several when the text has line breaks)
    void begin_map(std::string_view key, std::string_view comment = "");
    void begin_list(std::string_view key, std::string_view comment = "");  // of maps, each by begin_item() ... end()
    void begin_item();
    void end();

    void value(std::string_view key, std::string_view text, std::string_view comment = "") {
        line(key, yaml_scalar(text), comment);
    }
    void value(std::string_view key, const char* text, std::string_view comment = "") {
        value(key, std::string_view(text), comment);
    }
    void value(std::string_view key, double number, std::string_view comment = "");  // finite
    void value(std::string_view key, Switch state, std::string_view comment = "");
    template <std::integral T>
    void value(std::string_view key, T number, std::string_view comment = "") {
        static_assert(!std::same_as<T, bool>, "write a Switch");
        line(key, fmt::format("{}", number), comment);
    }
    template <class Q>
    requires requires(Q q) {
        { format(q) } -> std::same_as<std::string>;
    }
    void value(std::string_view key, Q quantity, std::string_view comment = "") {
        line(key, format(quantity), comment);
    }

    void list(std::string_view key, const std::vector<std::string>& items, std::string_view comment = "");
    template <class T>
    requires(!std::convertible_to<T, std::string>) void list(std::string_view key, const std::vector<T>& items,
                                                             std::string_view comment = "") {
        std::vector<std::string> texts;
        for (const T& item : items) {
            if constexpr (std::is_arithmetic_v<T>) texts.push_back(fmt::format("{}", item));
            else texts.push_back(format(item));
        }
        list(key, texts, comment);
    }

    // The whole text; every begin has met its end.
    const std::string& text() const;

private:
    enum class Level : unsigned char { map, list, item };
    struct Open {
        Level level;
        bool empty = true;
    };

    void line(std::string_view key, std::string_view value, std::string_view comment);
    void begin(std::string_view key, std::string_view comment, Level level);
    void indent();

    std::string text_;
    std::vector<Open> open_;
    bool after_dash_ = false;  // "- " stands at the end of the text and waits for the first key of its item
};

}  // namespace rehearse

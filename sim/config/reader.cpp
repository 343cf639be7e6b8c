#include "sim/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/nearest.hpp"
#include "sim/config/scalar_text.hpp"

namespace rehearse {

namespace {

// What a Reader over an absent map looks at.
const ConfigNode& empty_node() {
    static const ConfigNode node;
    return node;
}

}  // namespace

Reader::Reader(const ConfigNode& node, std::string path, FaultList& faults)
    : node_(&node), path_(std::move(path)), faults_(&faults) {
    if (node.kind == ConfigNode::Kind::map || node.kind == ConfigNode::Kind::null) return;
    faults_->add(
        {node.place, path_, fmt::format("the value is {}", describe(node.kind)), "expected a map of keys", ""});
    node_ = &empty_node();
}

std::string Reader::path(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

Place Reader::place(std::string_view key) const {
    const ConfigNode* value = node_->find(key);
    return value == nullptr ? node_->place : value->place;
}

std::vector<std::string> Reader::keys() const {
    std::vector<std::string> all;
    for (const ConfigEntry& entry : node_->entries) all.push_back(entry.key);
    return all;
}

const ConfigNode* Reader::use(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
    return node_->find(key);
}

Reader Reader::child(std::string_view key) {
    const ConfigNode* value = use(key);
    return Reader(value == nullptr ? empty_node() : *value, path(key), *faults_);
}

std::vector<Reader> Reader::children(std::string_view key) {
    std::vector<Reader> all;
    const ConfigNode* value = use(key);
    if (value == nullptr) return all;
    if (value->kind != ConfigNode::Kind::list) {
        fault(key, fmt::format("the value is {}", describe(value->kind)), "expected a list");
        return all;
    }
    for (std::size_t i = 0; i < value->items.size(); ++i)
        all.emplace_back(value->items[i], fmt::format("{}[{}]", path(key), i), *faults_);
    return all;
}

template <class T, class Parse>
bool Reader::convert(const ConfigNode& node, const std::string& path, T& value, const Parse& parse) {
    if (node.kind != ConfigNode::Kind::scalar) {
        const bool null = node.kind == ConfigNode::Kind::null;
        faults_->add({node.place, path, fmt::format("the value is {}", describe(node.kind)), "expected a single value",
                      null ? "leave the key out to take the default" : ""});
        return false;
    }
    Parsed<T> parsed = parse(std::string_view(node.text));
    if (auto* wrong = std::get_if<TextFault>(&parsed)) {
        faults_->add({node.place, path, wrong->wrong, wrong->expected, wrong->todo});
        return false;
    }
    value = std::move(std::get<T>(parsed));
    return true;
}

template <class T, class Parse>
void Reader::read_one(std::string_view key, T& value, const Parse& parse) {
    if (const ConfigNode* node = use(key)) convert(*node, path(key), value, parse);
}

template <class T, class Parse>
void Reader::read_list(std::string_view key, std::vector<T>& values, const Parse& parse) {
    const ConfigNode* node = use(key);
    if (node == nullptr) return;
    std::vector<T> fresh;
    bool whole = true;
    if (node->kind == ConfigNode::Kind::list) {
        for (std::size_t i = 0; i < node->items.size(); ++i) {
            T value{};
            whole &= convert(node->items[i], fmt::format("{}[{}]", path(key), i), value, parse);
            fresh.push_back(std::move(value));
        }
    } else {
        T value{};
        whole = convert(*node, path(key), value, parse);
        fresh.push_back(std::move(value));
    }
    if (whole) values = std::move(fresh);
}

namespace {

Parsed<std::string> parse_text(std::string_view text) { return std::string(text); }

auto integer_in(IntegerRange range) {
    return [range](std::string_view text) { return parse_integer(text, range); };
}

auto real_in(RealRange range) {
    return [range](std::string_view text) { return parse_real(text, range); };
}

}  // namespace

void Reader::read(std::string_view key, std::string& value) { read_one(key, value, parse_text); }
void Reader::read(std::string_view key, std::int64_t& value, IntegerRange range) {
    read_one(key, value, integer_in(range));
}
void Reader::read(std::string_view key, std::uint64_t& value) { read_one(key, value, parse_unsigned); }
void Reader::read(std::string_view key, double& value, RealRange range) { read_one(key, value, real_in(range)); }
void Reader::read(std::string_view key, Switch& value) { read_one(key, value, parse_switch); }
void Reader::read(std::string_view key, SimDuration& value) { read_one(key, value, parse_duration); }
void Reader::read(std::string_view key, Bytes& value) { read_one(key, value, parse_bytes); }
void Reader::read(std::string_view key, Bandwidth& value) { read_one(key, value, parse_bandwidth); }
void Reader::read(std::string_view key, FlopRate& value) { read_one(key, value, parse_flop_rate); }
void Reader::read(std::string_view key, Ratio& value) { read_one(key, value, parse_ratio); }

void Reader::read(std::string_view key, std::vector<std::string>& values) { read_list(key, values, parse_text); }
void Reader::read(std::string_view key, std::vector<std::int64_t>& values, IntegerRange range) {
    read_list(key, values, integer_in(range));
}
void Reader::read(std::string_view key, std::vector<double>& values, RealRange range) {
    read_list(key, values, real_in(range));
}
void Reader::read(std::string_view key, std::vector<SimDuration>& values) { read_list(key, values, parse_duration); }
void Reader::read(std::string_view key, std::vector<Bytes>& values) { read_list(key, values, parse_bytes); }
void Reader::read(std::string_view key, std::vector<Bandwidth>& values) { read_list(key, values, parse_bandwidth); }
void Reader::read(std::string_view key, std::vector<Ratio>& values) { read_list(key, values, parse_ratio); }

std::optional<std::size_t> Reader::choose(std::string_view key, const std::vector<std::string>& words) {
    std::size_t at = words.size();
    read_one(key, at, [&](std::string_view text) { return parse_word(text, words); });
    return at < words.size() ? std::optional(at) : std::nullopt;
}

std::optional<std::vector<std::size_t>> Reader::choose_all(std::string_view key,
                                                           const std::vector<std::string>& words) {
    std::vector<std::size_t> chosen{words.size()};  // stays when the key is absent or a word is wrong
    read_list(key, chosen, [&](std::string_view text) { return parse_word(text, words); });
    const bool read = std::find(chosen.begin(), chosen.end(), words.size()) == chosen.end();
    return read ? std::optional(chosen) : std::nullopt;
}

void Reader::require(std::string_view key, std::string_view why) {
    if (use(key) != nullptr) return;
    faults_->add({node_->place, path(key), "the key is missing", std::string(why), ""});
}

void Reader::fault(std::string_view key, std::string wrong, std::string expected, std::string todo) {
    faults_->add({place(key), path(key), std::move(wrong), std::move(expected), std::move(todo)});
}

void Reader::finish() {
    for (const ConfigEntry& entry : node_->entries) {
        if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
        const std::string near = nearest_word(entry.key, known_);
        std::string listed;
        for (const std::string& key : known_) listed += fmt::format("{}{}", listed.empty() ? "" : ", ", key);
        faults_->add({entry.place, path(entry.key), "unknown key",
                      near.empty() && !listed.empty() ? fmt::format("known here: {}", listed) : "",
                      near.empty() ? "remove it" : fmt::format("did you mean \"{}\"?", near)});
    }
}

}  // namespace rehearse

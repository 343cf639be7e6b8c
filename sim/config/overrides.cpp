#include "sim/config/overrides.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "sim/config/parse_yaml.hpp"

namespace rehearse {

namespace {

std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> steps(1);
    for (const char c : path) {
        if (c == '.') steps.emplace_back();
        else steps.back() += c;
    }
    return steps;
}

// The child that `step` names, made when it is missing from a map; nullptr and a reason when that cannot be.
ConfigNode* step_into(ConfigNode& node, const std::string& step, const Place& place, std::string& why) {
    if (node.kind == ConfigNode::Kind::list) {
        std::size_t index = 0;
        const auto result = std::from_chars(step.data(), step.data() + step.size(), index);
        if (result.ec == std::errc{} && result.ptr == step.data() + step.size() && index < node.items.size())
            return &node.items[index];
        why = fmt::format("{} is no item of a list of {}", in_quotes(step), node.items.size());
        return nullptr;
    }
    if (node.kind == ConfigNode::Kind::scalar) {
        why = fmt::format("{} is asked for below the single value {}", in_quotes(step), in_quotes(node.text));
        return nullptr;
    }
    if (node.kind == ConfigNode::Kind::null) node.place = place;
    node.kind = ConfigNode::Kind::map;
    if (ConfigNode* old = node.find(step)) return old;
    ConfigEntry entry{step, place, {}};
    entry.value.place = place;
    node.entries.push_back(std::move(entry));
    return &node.entries.back().value;
}

void apply(ConfigNode& root, const std::string& text, FaultList& faults) {
    const std::size_t equals = text.find('=');
    const std::string path = text.substr(0, equals);
    const Place place{"--set " + path, 0, 0};
    const Place option{"--set", 0, 0};
    if (equals == std::string::npos) {
        faults.add({option, "", fmt::format("{} has no value", in_quotes(text)), "expected key=value", ""});
        return;
    }
    const std::vector<std::string> steps = split(path);
    if (steps.size() > static_cast<std::size_t>(config_levels_max)) {
        faults.add({option, "", fmt::format("{} is too deep", in_quotes(path)), "", ""});
        return;
    }
    ConfigNode* node = &root;
    for (const std::string& step : steps) {
        std::string why = step.empty() ? "a part of the key is empty" : "";
        node = step.empty() ? nullptr : step_into(*node, step, place, why);
        if (node != nullptr) continue;
        faults.add({place, "", why, "expected a key such as \"cluster.node.nic\"", ""});
        return;
    }
    *node = parse_yaml(text.substr(equals + 1), place, faults);
}

}  // namespace

void apply_overrides(ConfigNode& root, const std::vector<std::string>& overrides, FaultList& faults) {
    for (const std::string& text : overrides) apply(root, text, faults);
}

}  // namespace rehearse

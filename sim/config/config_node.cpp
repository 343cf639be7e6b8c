#include "sim/config/config_node.hpp"

#include <algorithm>
#include <charconv>

namespace rehearse {

const ConfigNode* ConfigNode::find(std::string_view key) const {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const ConfigEntry& e) { return e.key == key; });
    return at == entries.end() ? nullptr : &at->value;
}

ConfigNode* ConfigNode::find(std::string_view key) {
    return const_cast<ConfigNode*>(static_cast<const ConfigNode*>(this)->find(key));
}

std::string_view describe(ConfigNode::Kind kind) {
    switch (kind) {
        case ConfigNode::Kind::null:
            return "empty";
        case ConfigNode::Kind::scalar:
            return "a single value";
        case ConfigNode::Kind::list:
            return "a list";
        case ConfigNode::Kind::map:
            return "a map";
    }
    return "";
}

namespace {

// Takes "a", "[2]" or ".a" off the front of the path; nullptr when the tree has no such node.
const ConfigNode* step_down(const ConfigNode& node, std::string_view& path) {
    if (path.front() == '.') path.remove_prefix(1);
    if (!path.empty() && path.front() == '[') {
        std::size_t index = 0;
        const char* const end = path.data() + path.size();
        const auto result = std::from_chars(path.data() + 1, end, index);
        if (result.ec != std::errc{} || result.ptr == end || *result.ptr != ']') return nullptr;
        path.remove_prefix(static_cast<std::size_t>(result.ptr + 1 - path.data()));
        return index < node.items.size() ? &node.items[index] : nullptr;
    }
    const std::size_t length = std::min(path.find_first_of(".["), path.size());
    const std::string_view key = path.substr(0, length);
    path.remove_prefix(length);
    return node.find(key);
}

}  // namespace

Place find_place(const ConfigNode& root, std::string_view path) {
    const ConfigNode* node = &root;
    while (!path.empty()) {
        const ConfigNode* below = step_down(*node, path);
        if (below == nullptr) break;
        node = below;
    }
    return node->place;
}

bool has_key(const ConfigNode& root, std::string_view path) {
    const ConfigNode* node = &root;
    while (node != nullptr && !path.empty()) node = step_down(*node, path);
    return node != nullptr;
}

}  // namespace rehearse

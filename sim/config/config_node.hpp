// A configuration file as a tree of text: what was written, where, and nothing about what it means.
//
// Scalars stay text (YAML's own guesses at types are not used), maps keep the order of the file, and each node and key
// knows its place. The tree comes from load_config() and is read with Reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.hpp"

namespace rehearse {

struct ConfigEntry;

struct ConfigNode {
    enum class Kind : std::uint8_t { null, scalar, list, map };

    Kind kind = Kind::null;
    std::string text;                  // scalar
    std::vector<ConfigNode> items;     // list
    std::vector<ConfigEntry> entries;  // map; keys are unique
    Place place;

    // The value under this key; nullptr when this is no map or has no such key.
    const ConfigNode* find(std::string_view key) const;
    ConfigNode* find(std::string_view key);
};

struct ConfigEntry {
    std::string key;
    Place place;  // of the key
    ConfigNode value;
};

// "a scalar", "a list", "a map", "empty": for messages.
std::string_view describe(ConfigNode::Kind kind);

// Where the value of "a.b.c" was written ("a.b[2]" for list items). When it was not (a default), the place of the
// nearest node above it. Lets a check that runs long after reading still point at file, line and column.
Place find_place(const ConfigNode& root, std::string_view path);
// Was a value written for "a.b.c"?
bool has_key(const ConfigNode& root, std::string_view path);

}  // namespace rehearse

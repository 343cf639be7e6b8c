// YAML text -> ConfigNode, strictly. The only file that sees yaml-cpp is parse_yaml.cpp.
//
// Refused, each with line and column: bytes that are not UTF-8, syntax errors, duplicate keys, keys that are not words,
// merge keys (<<), tags, an alias inside its own anchor, a second document, more than 100 levels, more than a million
// nodes (aliases count with all they stand for). All but syntax errors, bytes and the limits are reported together.
#pragma once

#include <string>

#include "sim/base/fault.hpp"
#include "sim/config/config_node.hpp"

namespace rehearse {

constexpr int config_levels_max = 100;
constexpr std::size_t config_nodes_max = 1'000'000;

// `place` names the source: with line 0 (a command-line option) nodes carry the place unchanged, otherwise (line 1)
// they get its file and their own line and column. Empty text gives a null node.
ConfigNode parse_yaml(const std::string& text, const Place& source, FaultList& faults);

}  // namespace rehearse

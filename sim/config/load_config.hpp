// The way in for every configuration file: one strict tree from a file, the files it includes, and --set overrides.
//
// `include: part.yaml` or `include: [a.yaml, b.yaml]` at the top level merges parts: they come first, in order, later
// ones over earlier ones, and the keys of the file itself over all. Maps merge key by key; lists and single values are
// replaced. Paths are relative to the file that includes. An override "a.b.c=value" replaces or creates one value;
// "a.b.1" counts list items from zero; the value is YAML, so "[1, 2]" and "{x: 1}" work.
//
// Errors: InputError with every fault, when the file cannot be read, is larger than 16 MiB, is no map at the top,
// breaks the rules of parse_yaml.hpp, includes itself, or an override does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/config_node.hpp"

namespace rehearse {

constexpr std::int64_t config_bytes_max = 16 << 20;

// Example: load_config("scenario.yaml", {"seed=2", "cluster.node.nic=400 Gbps"}).
ConfigNode load_config(const std::string& path, const std::vector<std::string>& overrides = {});

// The same from text in memory; `name` stands in for the file in messages, and includes are relative to its folder.
ConfigNode parse_config(const std::string& text, const std::string& name,
                        const std::vector<std::string>& overrides = {});

}  // namespace rehearse

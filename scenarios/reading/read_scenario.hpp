// The way in: a scenario file as plain data. Units, ranges and words are checked here, key by key; whether the parts
// fit together is the business of validate_scenario.hpp.
//
// README.md lists every key with its default. A profile name is looked up as NAME.yaml beside the scenario file, then
// in models/compute/profiles of the installed data; a name with a slash or an ending is a path relative to the
// scenario.
#pragma once

#include <string>
#include <vector>

#include "scenarios/net/net_scenario.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

// `overrides` are "key=value" texts (--set). Throws InputError with every fault of the file, each with its place.
Scenario read_scenario(const std::string& path, const std::vector<std::string>& overrides = {});

// The same from text in memory; `name` stands in for the file.
Scenario parse_scenario(const std::string& text, const std::string& name,
                        const std::vector<std::string>& overrides = {});

// Of `rehearse net`: it has `net` and no `training`; read_scenario() refuses it with a word.
bool is_net_scenario(const std::string& path, const std::vector<std::string>& overrides = {});
NetScenario read_net_scenario(const std::string& path, const std::vector<std::string>& overrides = {});
NetScenario parse_net_scenario(const std::string& text, const std::string& name,
                               const std::vector<std::string>& overrides = {});

}  // namespace rehearse

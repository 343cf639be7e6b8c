// Command-line overrides "a.b.c=value" on a configuration tree; see load_config.hpp for what they mean.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_node.hpp"

namespace rehearse {

// Applied in order; what does not fit is added to `faults` under the place "--set a.b.c".
void apply_overrides(ConfigNode& root, const std::vector<std::string>& overrides, FaultList& faults);

}  // namespace rehearse

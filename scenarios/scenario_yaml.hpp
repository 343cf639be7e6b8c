// A scenario as the YAML that read_scenario() reads back to the same values, every default spelled out.
#pragma once

#include <string>

#include "scenarios/scenario.hpp"

namespace rehearse {

std::string scenario_yaml(const Scenario& scenario);

}  // namespace rehearse

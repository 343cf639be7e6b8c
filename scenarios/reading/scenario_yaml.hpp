// A scenario as the YAML that read_scenario() reads back to the same values, every default spelled out.
#pragma once

#include <string>

#include "scenarios/net/net_scenario.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

std::string scenario_yaml(const Scenario& scenario);
std::string scenario_yaml(const NetScenario& scenario);  // read_net_scenario() reads it

}  // namespace rehearse

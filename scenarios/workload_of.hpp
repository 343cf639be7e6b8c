// The workload of a scenario: what its policies leave for the step goes into it.
#pragma once

#include "models/workload/workload.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

// Routing is drawn with the scenario's seed. InputError as the policies throw it.
Workload workload_of(const ValidScenario& scenario);

}  // namespace rehearse

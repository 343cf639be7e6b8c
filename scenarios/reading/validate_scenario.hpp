// Cross checks: whether the parts of a scenario fit together. The only maker of ValidScenario.
#pragma once

#include "scenarios/scenario.hpp"

namespace rehearse {

// Fills in what follows from the rest (cluster.hosts, parallel.data) and proves what ValidScenario promises.
// Throws InputError with every fault, each at the place of the key that it is about.
ValidScenario validate(Scenario raw);

}  // namespace rehearse

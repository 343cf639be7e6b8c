// What a live run on this machine's cores can take of a scenario. Everything else is a fault at its key.
#pragma once

#include <cstdint>

#include "scenarios/scenario.hpp"

namespace rehearse {

// InputError with all faults. `cores` of this machine: more ranks than that would take turns, and measure the turns.
void check_live(const ValidScenario& scenario, std::int64_t cores);

}  // namespace rehearse

// What the faults of a net scenario did: when somebody noticed, what their links lost, how often they paused.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/net/net_results.hpp"

namespace rehearse {

// One object per fault of the scenario: kind, where, begin_us, end_us (null: never), noticed_after_us (null: never, or
// it was over before), frames_lost on its links, pauses by its NIC.
nlohmann::ordered_json faults_json(const NetOutcome& outcome);
std::string fault_lines(const NetOutcome& outcome);  // of the screen; "" without faults

}  // namespace rehearse

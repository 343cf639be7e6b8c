// `rehearse net`: traffic patterns on the fabric alone. The body of net() is the command's story.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/net_results.hpp"
#include "scenarios/net_scenario.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

struct NetRequest {
    std::string path;
    std::vector<std::string> overrides;  // --set, and --seed and --fidelity as overrides too
    std::optional<std::string> out;      // results folder
    Switch quiet = Switch::off;
};

// Results on stdout, progress and diagnosis on stderr. True when every flow ended, whole or by a reported QP error;
// false when some never could (deadlock): the results are written all the same. Throws InputError, OutputError.
bool net(const NetRequest& request);

// One run, without results folder. Says on stderr which flows can never end. Throws InputError.
NetOutcome study(const ValidNetScenario& scenario);
void print_warnings(const ValidNetScenario& scenario);

}  // namespace rehearse

// `rehearse net`: traffic patterns on the fabric alone. The body of net() is the command's story.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/network/packet/engine.hpp"
#include "scenarios/net/net_results.hpp"
#include "scenarios/net/net_scenario.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

class ProcessGroup;

struct NetRequest {
    std::string path;
    std::vector<std::string> overrides;  // --set, and --seed and --fidelity as overrides too
    std::optional<std::string> out;      // results folder
    Switch quiet = Switch::off;
    std::int64_t threads = 1;            // that sweep the fabric at packet fidelity
    ProcessGroup* processes = nullptr;   // in place of threads; process 0 writes and speaks
};

// Results on stdout, progress and diagnosis on stderr. True when every flow ended, whole or by a reported QP error;
// false when some never could (deadlock): the results are written all the same. Throws InputError, OutputError.
bool net(const NetRequest& request);

Crew crew_of(const NetRequest& request);
bool is_first(const Crew& crew);  // the process that writes and speaks

// One run, without results folder; all processes of a crew call it. Says on stderr which flows can never end. Throws
// InputError.
NetOutcome study(const ValidNetScenario& scenario, const Crew& crew = {});
void print_warnings(const ValidNetScenario& scenario);

}  // namespace rehearse

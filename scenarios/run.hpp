// `rehearse run`: from a scenario file to results. The body of run() is the program's story.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/switch.hpp"

namespace rehearse {

enum class Stage : std::uint8_t { scenario, cluster, workload, placement, timeline, metrics, results };

struct RunRequest {
    std::string path;
    std::vector<std::string> overrides;  // --set, and --seed, --fidelity and --slice as overrides too
    std::optional<std::string> out;      // results folder
    Stage stop_after = Stage::results;   // an earlier stage prints its dump and ends
    std::int64_t seeds = 1;              // seed, seed + 1, ...
    std::int64_t threads = 1;            // seeds run side by side; 0 = as many as the machine has
    Switch quiet = Switch::off;
    Switch check_packets = Switch::off;  // compare the busiest moments of the first seed at flow and packet fidelity
};

// Results on stdout, warnings on stderr. Throws InputError, InvariantBroken, OutputError.
void run(const RunRequest& request);

}  // namespace rehearse

// `rehearse live`: a scenario on this machine's cores, with the real kernels, policies and placement, and beside it, if
// asked for, what the simulation predicts with what was measured here. The body of live() is the program's story.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/communicator/mpi_ranks.hpp"
#include "scenarios/live/phases.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

struct LiveRequest {
    std::string path;
    std::vector<std::string> overrides;
    std::optional<std::string> out;      // results folder
    std::int64_t steps = 20;             // that count, behind those that warm up
    std::int64_t oversample = 5;         // so many times as many are run, and the calmest count
    double patience = 60;                // s: to wait for a calm machine, where runs are compared
    std::int64_t warmup = 3;             // at least policies.warmup_steps
    Switch compare = Switch::off;
    std::string calibration;             // file; "" = that of the scenario's profile
    Switch force_device = Switch::off;   // a calibration of another device is taken all the same
    Switch operators = Switch::off;      // a table by operator, too
    Switch quiet = Switch::off;
    MpiRanks* processes = nullptr;       // that mpirun started; none: threads
};

// Measured and, where asked for, predicted.
struct LiveComparison {
    PhaseTimes measured, predicted;
    double spread = 0;  // of the measured steps
};

// Results on stdout. Throws InputError, InvariantBroken, OutputError.
LiveComparison live(const LiveRequest& request);

}  // namespace rehearse

// `rehearse calibrate run`: measures this machine's kernels, collectives and policies.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/calibrate/sweep.hpp"

namespace rehearse {

struct CalibrateRunRequest {
    std::string out;           // calibration file; "" = a table on the screen alone
    std::int64_t ranks = 2;    // measured together, one core each
    std::int64_t steps = 20;   // times of each sample, behind the warm-up
    std::int64_t oversample = 5;  // so many times as many steps are run, and the calmest count
    double spread_most = 0.5;  // (third - first quartile) / median of a sample, from which on it is noise
    SweepSize size = SweepSize::full;
    std::string date;          // of today
};

std::string local_device_name();  // of the processor, as the system calls it

// A sample that is noisier is measured again, three times at most, and then left out and named; without any good one of
// a kernel there is no calibration (exit code 1). Returns the exit code.
int run_calibration(const CalibrateRunRequest& request);

}  // namespace rehearse

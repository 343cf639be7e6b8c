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
    double patience = 15;      // s: to wait for a calm machine, for each shape
    double spread_most = 0.5;  // (third - first quartile) / median of a sample, from which on it is noise
    SweepSize size = SweepSize::full;
    std::string date;          // of today
};

// Shapes that were met while the machine was slower than at its best are measured again, three times in all at most. A
// sample that is noisier than `spread_most` is left out and named on stderr. Returns 0; OutputError where the file
// cannot be written.
int run_calibration(const CalibrateRunRequest& request);

}  // namespace rehearse

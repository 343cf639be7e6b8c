// `rehearse calibrate show` and `diff`: calibration files for people.
#pragma once

#include <string>

#include "kernels/calibration/calibration_file.hpp"

namespace rehearse {

// Device, software, source; the samples with median and spread; the fits with their errors.
std::string calibration_text(const CalibrationFile& calibration);

// Samples of both by what, shape, precision and algorithm: medians and their ratio; what only one of them has.
std::string calibration_diff(const CalibrationFile& a, const CalibrationFile& b);

int show_command(const std::string& path);
int diff_command(const std::string& path_a, const std::string& path_b);  // warns on stderr when the devices differ

}  // namespace rehearse

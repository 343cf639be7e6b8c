// `rehearse calibrate fit CALIBRATION.yaml`: curves and surfaces through the samples of a calibration file.
//
// Samples of one what, precision and algorithm whose shapes differ in size only are one curve:
//     alpha_beta   {alpha_s, beta_Bps}                     t = alpha + bytes / beta; no beta where nothing grows
//     piecewise    {bytes_0, seconds_0, bytes_1, ...}      log t linear in log bytes between the knots
// (models/calibration/curve_fit.hpp). The size is the first of bytes, tokens, rows and elements that the shapes have;
// beta_per_s and tokens_0 stand for another one than bytes. Matrix products, whose shapes have m, n and k, are one
// surface of all shapes:
//     gemm_surface {launch_s, flop_s, result_s, left_s, right_s}       models/compute/gemm_surface.hpp
//     attention    {launch_s, flop_s, byte_s}                          models/compute/attention_fit.hpp
// Each fit is on the medians of its samples and names them.
#pragma once

#include <string>

#include "kernels/calibration/calibration_file.hpp"

namespace rehearse {

// The file with the fits that its samples determine, in the place of those of these forms it had. A curve takes two
// sizes, a surface five shapes; samples that are fewer, or without such a shape, have no fit.
CalibrationFile with_fits(CalibrationFile calibration);

// Reads `path`, prints the fits and writes the file, to `out` or back where it was ("" = there). Returns 0; InputError
// where no sample can be fitted.
int fit_file_command(const std::string& path, const std::string& out);

}  // namespace rehearse

// `rehearse calibrate fit`: fits the free numbers of a device profile on named rows and writes the profile back, each
// fitted number with its data set, standard error and the residuals it left.
//
// A calibration names its rows once. Parameters that none of them determines stay as they are. The residuals are those
// of the full simulation; the derivatives come from a cheaper one (see fit.hpp), which changes the path to the optimum
// and not the optimum.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/compute/fit.hpp"
#include "models/compute/profile.hpp"
#include "scenarios/validation/measured_steps.hpp"

namespace rehearse {

struct Calibration {
    std::string profile;                   // name of the profile that it fits
    std::string data;                      // what it is fitted on, for the provenance
    std::vector<FitParameter> parameters;
    FitOptions options;
    std::function<std::vector<double>(const DeviceProfile&)> residuals;   // full simulation
    std::function<std::vector<double>(const DeviceProfile&)> derivatives; // cheaper, same rows
    // Positions of the residuals that a scenario's row has a part in; empty when the calibration has no named rows.
    std::function<std::vector<std::size_t>(const std::string& scenario)> residuals_of;
};

struct CalibrationResult {
    DeviceProfile profile;
    FitResult fit;
};

// Fits from the values of `start` and returns the profile with the fitted numbers and their notes.
CalibrationResult run_calibration(const Calibration& calibration, DeviceProfile start);

// For each list of rows: the profile that the calibration would have given without them, from the profile that it gave
// (see LinearisedFit).
std::vector<DeviceProfile> profiles_without(const Calibration& calibration, const DeviceProfile& fitted,
                                            const std::vector<std::vector<std::string>>& left_out);

// The published rows that may be fitted on: MegaScale, NSDI'24.
Calibration megascale_calibration();
// MegaScale-MoE (EuroSys'26): one number of a system's profile, on its row of 240 GPUs. `profile` names one of the two.
Calibration megascale_moe_calibration(const std::string& profile);

// Measured A100 steps and NVLink all-reduces; folders as read_measured_steps() and data_folder() say.
struct A100Data {
    std::vector<std::string> step_files;
    std::string all_reduce_file;
};
A100Data default_a100_data();
Calibration a100_calibration(const std::vector<MeasuredStep>& steps);
// alpha and beta of the NVLink groups from nccl-style rows (gpus, size_bytes, time_ns): relative least squares.
// InputError with every bad row, and with every group that does not determine a latency and a positive rate.
std::vector<LocalLink> fit_local_links(const std::string& all_reduce_file);

struct CalibrateRequest {
    std::string name;       // of the profile
    std::string start;      // profile to start from; "" = the shipped one
    std::string out;        // file to write; "" = print only
    A100Data a100;
};
int calibrate_command(const CalibrateRequest& request);

}  // namespace rehearse

// A calibration file: what was measured where, and what was fitted on it. YAML, read strictly.
//
//     schema_version: 1
//     device: {name: NVIDIA H100 80GB HBM3, kind: gpu, count: 16, driver: 570.86.10, clocks: 1980 MHz}
//     software:
//       - {name: NCCL, version: 2.26.2}
//     date: 2026-11-30
//     source: {command: rehearse calibrate import a.log, files: [a.log], origin: "nccl-tests, site A"}
//     samples:
//       - {what: all_reduce, kind: collective, shape: {bytes: 1048576, ranks: 16}, precision: float, seconds:
//       [9.3e-05]}
//     fits:
//       - {what: all_reduce, form: alpha_beta, shape: {ranks: 16}, parameters: {alpha_s: 2e-05, beta_Bps: 3e+11},
//          rows: [0], residuals: [0.01], mean_abs_error: 0.01}
//
// Writing and reading give the same value; numbers have the fewest digits that read back equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/units_text.hpp"

namespace rehearse {

enum class DeviceKind : std::uint8_t { cpu, gpu };
enum class SampleKind : std::uint8_t { kernel, collective, policy };

struct CalibrationDevice {
    std::string name;  // as its driver calls it
    DeviceKind kind = DeviceKind::cpu;
    std::int64_t count = 0;      // measured together; 0 = not stated, or different in the samples (see their shapes)
    std::string driver, clocks;  // "" = not stated
    friend bool operator==(const CalibrationDevice&, const CalibrationDevice&) = default;
};

struct SoftwareVersion {
    std::string name, version;
    friend bool operator==(const SoftwareVersion&, const SoftwareVersion&) = default;
};

struct CalibrationSource {
    std::string command;             // that measured or imported
    std::vector<std::string> files;  // imported ones
    std::string origin;              // in words
    friend bool operator==(const CalibrationSource&, const CalibrationSource&) = default;
};

// Names to integers in a fixed order: {batch, m, n, k} of a GEMM, {bytes, ranks, nodes} of a collective.
using SampleShape = std::vector<std::pair<std::string, std::int64_t>>;

struct CalibrationSample {
    std::string what;  // "gemm", "all_reduce", ...
    SampleKind kind = SampleKind::kernel;
    SampleShape shape;
    std::string precision, algorithm;  // "" = not stated
    std::vector<double> seconds;       // raw times, at least one, each > 0
    friend bool operator==(const CalibrationSample&, const CalibrationSample&) = default;
};

struct CalibrationFit {
    std::string what, form;  // form: "alpha_beta", "piecewise", "gemm_surface", ...
    SampleShape shape;       // what it holds for, as {ranks: 16}; may be empty
    std::vector<std::pair<std::string, double>> parameters;
    std::vector<std::int64_t> rows;  // positions in samples that it was fitted on, from 0
    std::vector<double> residuals;   // predicted / measured - 1, of each of these rows
    double mean_abs_error = 0;       // mean |residual|
    friend bool operator==(const CalibrationFit&, const CalibrationFit&) = default;
};

struct CalibrationFile {
    CalibrationDevice device;
    std::vector<SoftwareVersion> software;
    std::string date;  // of the measurement, YYYY-MM-DD; "" = not stated
    CalibrationSource source;
    std::vector<CalibrationSample> samples;
    std::vector<CalibrationFit> fits;
    friend bool operator==(const CalibrationFile&, const CalibrationFile&) = default;
};

// Quartiles interpolate between neighbours: the p-quantile of x_0 <= ... <= x_(n-1) lies at position p (n-1).
double median_seconds(const CalibrationSample& sample);
double relative_spread(const CalibrationSample& sample);  // (third - first quartile) / median; 0 for one time

// InputError with every fault: unknown or missing keys, wrong types and ranges, samples that stand twice, rows of a fit
// that no sample has.
CalibrationFile read_calibration_file(const std::string& path);
CalibrationFile parse_calibration(const std::string& text, const std::string& name);
std::string to_yaml(const CalibrationFile& calibration);

// Two samples measure the same when these are equal: "all_reduce bytes=1048576 ranks=16 float ring".
std::string label_of(const CalibrationSample& sample);
std::string to_text(const SampleShape& shape);
const char* name_of(DeviceKind kind);
const char* name_of(SampleKind kind);

// Why this calibration may not be used on the local device; none when the names are equal.
std::optional<TextFault> device_mismatch(const CalibrationFile& calibration, const std::string& local_device);

}  // namespace rehearse

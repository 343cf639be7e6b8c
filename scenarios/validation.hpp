// `rehearse validate`: published tables against predictions.
//
// A suite is a published table with the program's prediction for every row. A row is `fitted` when parameters were fitted
// on it and `predicted` otherwise; only the latter says how good the program is. A band is the allowed relative error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rehearse {

enum class RowUse : std::uint8_t { fitted, predicted };

struct ValidationRow {
    std::string system;    // "MegaScale 175B"
    std::int64_t gpus = 0;
    std::string quantity;  // a key of metrics.json: "step_time_s", "mfu"
    double published = 0;
    double predicted = 0;
    RowUse use = RowUse::predicted;
    std::optional<double> band;  // relative; none = reported only
    double error() const { return predicted / published - 1; }
    bool exceeds_band() const { return band && (error() > *band || error() < -*band); }
};

struct ValidationSuite {
    std::string name;
    std::string title;
    std::string source;
    std::vector<ValidationRow> rows;
};

// A suite by name; `compute` runs the simulations that it needs.
struct SuiteEntry {
    std::string name;
    std::string what;
    std::function<ValidationSuite()> compute;
};

// All suites, in the order in which they are printed. Defined in validate_suites.cpp.
std::vector<SuiteEntry> validation_suites();

// Published, predicted, error, use and band per row, and the mean absolute error of predicted and of fitted rows.
std::string suite_table(const ValidationSuite& suite);

// {"rows": [{suite, system, gpus, quantity, published, predicted, error, status}]}: what reports/ reads.
std::string validation_json(const std::vector<ValidationSuite>& suites);

struct ValidateRequest {
    std::vector<std::string> names;  // of suites; none = all
    std::string json_path;           // "" = none
};

// Computes and prints the suites. 0, or 1 when a row exceeds its band. InputError for an unknown name.
int validate_command(const ValidateRequest& request);

}  // namespace rehearse

// `rehearse validate`: published tables against predictions.
//
// A suite is a published table of steps, of other figures or of both with the program's
// prediction for every row. A row is `fitted` when parameters were
// fitted on it and `predicted` otherwise; only the latter says how good the program is. A row without a published
// figure is predicted and compared with nothing ("not held").
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/validation/claim_table.hpp"
#include "scenarios/validation/figure_suite.hpp"
#include "scenarios/validation/published.hpp"

namespace rehearse {

struct ValidationRow {
    PublishedRow published;
    std::string system;    // name of the scenario
    std::int64_t gpus = 0;
    double step_s = 0;     // predicted: median of the seeds
    double mfu = 0;        // predicted, fraction
    std::optional<double> left_out_s;  // predicted with parameters fitted without this row
    std::optional<double> error() const {
        return published.step_s ? std::optional(step_s / *published.step_s - 1) : std::nullopt;
    }
    bool exceeds_band() const;
};

struct ValidationSuite {
    std::string name;
    std::string title;
    std::vector<ValidationRow> rows;
    std::vector<PublishedRatio> ratios = {};
    std::vector<ValidationFigure> figures = {};
    std::vector<std::string> scenarios = {}, notes = {};  // of the figures and claims
    std::vector<ClaimRow> claims = {};
    std::string skipped = {};  // why nothing was computed; a document then keeps its block

    const ValidationRow* row(const std::string& scenario) const;  // nullptr: no such row
    std::optional<double> predicted(const PublishedRatio& ratio) const;  // nothing without both rows
    bool exceeds(const PublishedRatio& ratio) const;
    bool exceeds_band() const;  // of any row, ratio or figure
};

struct ValidateRequest {
    std::vector<std::string> names;     // of suites; none = all
    std::string markdown_path;          // document with a block for every suite (accuracy.hpp); "" = none
    std::string rows = "all";           // "held": only rows with a published figure (the others take most of the time)
    std::string leave_one_out = "off";  // "on": each ablation row as predicted by a fit without it
};

// A suite by name; `compute` runs the simulations that it needs.
struct SuiteEntry {
    std::string name;
    std::string what;
    std::function<ValidationSuite(const ValidateRequest&)> compute;
    std::function<std::string()> inputs = {};  // what a block of it names when it is current; none: not checked
};

// All suites, in the order in which they are printed. Defined in validate_suites.cpp.
std::vector<SuiteEntry> validation_suites();

// The suites that a request names, or all. InputError for an unknown name, or a document without the block of a suite.
std::vector<SuiteEntry> choose_suites(const ValidateRequest& request);

// Published, predicted, error, use and band per row, and the mean absolute error of predicted and of fitted rows.
std::string suite_text(const ValidationSuite& suite);
std::string suite_markdown(const ValidationSuite& suite);  // the same as a block of a document

// What --json writes, schema_version 1. `rows`, which reports/ reads: [{suite, system, gpus, quantity, published,
// predicted, error, status}], of a figure with its unit and without system and gpus. `files`: as
// validate_a100_command() returns them. Each is left out when it is empty.
nlohmann::ordered_json validation_json(const std::vector<ValidationSuite>& suites, const nlohmann::ordered_json& files);

// Computes and prints the suites. InputError for an unknown name.
std::vector<ValidationSuite> validate_command(const ValidateRequest& request);

}  // namespace rehearse

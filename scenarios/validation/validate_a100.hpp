// `rehearse validate a100-steps`: measured A100 steps against predictions, and how well the fit carries over to
// configurations that it has not seen.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/compute/profile.hpp"
#include "scenarios/validation/measured_steps.hpp"

namespace rehearse {

struct StepPrediction {
    MeasuredStep measured;
    double predicted_s = 0;
    double error() const { return predicted_s / measured.seconds - 1; }
};

struct ErrorSummary {
    double mape = 0, median = 0, p95 = 0;  // of |error|, fractions
};

std::vector<StepPrediction> predict_steps(const std::vector<MeasuredStep>& steps, const DeviceProfile& profile);
ErrorSummary summarise(const std::vector<StepPrediction>& predictions);

// k folds over the groups (gpus, hidden, layers, sequence) of `steps`: each fold is predicted with a profile fitted on
// the other folds and on `also` (rows of other files, whole). Groups go to folds in order of size, largest first.
std::vector<StepPrediction> cross_validate(const std::vector<MeasuredStep>& steps,
                                           const std::vector<MeasuredStep>& also, const DeviceProfile& start,
                                           std::size_t folds);

struct A100Request {
    std::string data;         // CSV file; "" = both train halves of the data folder
    std::string markdown_path;  // document with a block a100-steps (accuracy.hpp); "" = none
    std::string profile;      // "" = the shipped a100-sxm-80g
    std::size_t folds = 0;    // 0 = no cross-validation
    std::int64_t rows = 12;   // worst rows printed; -1 = all
};
// Predicts and prints; all faults of the files come before the first line. One object per file: file, rows, mape,
// median, p95, steps.
nlohmann::ordered_json validate_a100_command(const A100Request& request);

}  // namespace rehearse

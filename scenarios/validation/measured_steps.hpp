// Measured training steps from a CSV file, each as a scenario.
//
// Columns, in any order: gpus, global_batch, micro_batch, hidden, heads, layers, seq, tp, dp, pp, iteration_ms (others
// are ignored). A row becomes the template scenario (scenarios/library/a100_step.yaml) with these values set; what the
// file's source leaves open (precision, recomputation, schedule) is stated and marked in the template.
#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.hpp"

namespace rehearse {

struct MeasuredStep {
    int line = 0;            // in the file, one-based
    std::int64_t gpus = 0, global_batch = 0, micro_batch = 0, hidden = 0, heads = 0, layers = 0, sequence = 0;
    std::int64_t tensor = 0, data = 0, pipeline = 0;
    double seconds = 0;
    std::string group() const;     // configuration for cross-validation: (gpus, hidden, layers, sequence)
    std::string layout() const;    // "tp 2 dp 4 pp 1 mb 8"
};

// Throws InputError with the faults of every row, each at its cell: a column that is missing, a cell that is no
// positive number, and what validate() says of the scenario that the row makes.
std::vector<MeasuredStep> read_measured_steps(const std::string& path);

ValidScenario scenario_of(const MeasuredStep& step);

// The folder of third-party data sets: the environment variable REHEARSE_DATA, else ../shared/data.
std::string data_folder();

}  // namespace rehearse

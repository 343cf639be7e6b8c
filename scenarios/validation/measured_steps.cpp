#include "scenarios/validation/measured_steps.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/csv_reader.hpp"

namespace rehearse {

namespace {

// A column of the file, the key of the scenario that it sets, and where it is kept. iteration_ms stands behind them.
struct StepColumn {
    const char* name;
    const char* key;
    std::int64_t MeasuredStep::*value;
};

constexpr std::array step_columns{
    StepColumn{"gpus", "job.gpus", &MeasuredStep::gpus},
    StepColumn{"global_batch", "training.batch_global", &MeasuredStep::global_batch},
    StepColumn{"micro_batch", "training.micro_batch", &MeasuredStep::micro_batch},
    StepColumn{"hidden", "training.model.hidden", &MeasuredStep::hidden},
    StepColumn{"heads", "training.model.heads", &MeasuredStep::heads},
    StepColumn{"layers", "training.model.layers", &MeasuredStep::layers},
    StepColumn{"seq", "training.model.sequence", &MeasuredStep::sequence},
    StepColumn{"tp", "training.parallel.tensor", &MeasuredStep::tensor},
    StepColumn{"dp", "training.parallel.data", &MeasuredStep::data},
    StepColumn{"pp", "training.parallel.pipeline", &MeasuredStep::pipeline},
};

std::vector<std::string> column_names() {
    std::vector<std::string> names;
    for (const StepColumn& column : step_columns) names.emplace_back(column.name);
    names.emplace_back("iteration_ms");
    return names;
}

// A fault of the scenario that a row makes, at the cell that set its key: the file has the row, and no such key.
void relocate(const InputError& error, const CsvReader& csv, const CsvRow& row) {
    for (const Fault& fault : error.faults()) {
        std::size_t column = 0;
        while (column < step_columns.size() && fault.path != step_columns[column].key) ++column;
        const bool known = column < step_columns.size();
        csv.fault(row, known ? column : 0, known ? fault.wrong : fmt::format("{}: {}", fault.path, fault.wrong),
                  fault.expected, fault.todo);
    }
}

void check_scenario(const MeasuredStep& step, const CsvReader& csv, const CsvRow& row) {
    try {
        scenario_of(step);
    } catch (const InputError& error) {
        relocate(error, csv, row);
    }
}

}  // namespace

std::string MeasuredStep::group() const { return fmt::format("{}/{}/{}/{}", gpus, hidden, layers, sequence); }

std::string MeasuredStep::layout() const {
    return fmt::format("tp {} dp {} pp {} mb {}", tensor, data, pipeline, micro_batch);
}

std::vector<MeasuredStep> read_measured_steps(const std::string& path) {
    FaultList faults;
    const CsvReader csv(path, column_names(), faults);
    std::vector<MeasuredStep> steps;
    for (const CsvRow& row : csv.rows()) {
        const std::size_t before = faults.size();
        MeasuredStep step;
        step.line = row.line;
        for (std::size_t i = 0; i < step_columns.size(); ++i) step.*step_columns[i].value = csv.whole(row, i, 1e6);
        step.seconds = csv.positive(row, step_columns.size()) * 1e-3;
        if (faults.size() == before) check_scenario(step, csv, row);
        steps.push_back(step);
    }
    if (faults.empty() && steps.empty()) csv.fault("no measured row", "at least one row below the header");
    faults.throw_if_any();
    return steps;
}

ValidScenario scenario_of(const MeasuredStep& step) {
    std::vector<std::string> overrides;
    for (const StepColumn& column : step_columns)
        overrides.push_back(fmt::format("{}={}", column.key, step.*column.value));
    return validate(read_scenario(data_path("scenarios/library/a100_step.yaml").string(), overrides));
}

std::string data_folder() {
    const char* folder = std::getenv("REHEARSE_DATA");
    return folder != nullptr && *folder != '\0' ? folder : "../shared/data";
}

}  // namespace rehearse

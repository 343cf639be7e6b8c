#include "scenarios/measured_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "scenarios/read_scenario.hpp"
#include "scenarios/validate_scenario.hpp"

namespace rehearse {

namespace {

constexpr std::array column_names{"gpus", "global_batch", "micro_batch", "hidden", "heads",        "layers",
                                  "seq",  "tp",           "dp",          "pp",     "iteration_ms"};

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
        while (!cell.empty() && (cell.back() == '\r' || cell.back() == ' ')) cell.pop_back();
        cells.push_back(cell);
    }
    return cells;
}

class StepReader {
public:
    explicit StepReader(const std::string& path) : path_(path) {}

    std::vector<MeasuredStep> read() {
        std::ifstream file(path_);
        if (!file) fail(0, "", "the file cannot be read", "a CSV file", "check the path");
        std::string line;
        if (file) std::getline(file, line);
        if (file || !line.empty()) find_columns(split(line));
        std::vector<MeasuredStep> steps;
        for (line_ = 2; faults_.empty() && std::getline(file, line); ++line_) {
            if (!line.empty() && line != "\r") steps.push_back(read_row(split(line)));
        }
        for (; std::getline(file, line); ++line_) read_row(split(line));  // after a fault: report the rest as well
        if (faults_.empty() && steps.empty()) fail(0, "", "no measured row", "at least one row below the header", "");
        if (!faults_.empty()) throw InputError(faults_);
        return steps;
    }

private:
    void fail(int line, std::string path, std::string wrong, std::string expected, std::string todo) {
        if (faults_.size() < 50) faults_.push_back({{path_, line, line > 0 ? 1 : 0}, std::move(path), std::move(wrong),
                                                    std::move(expected), std::move(todo)});
    }

    void find_columns(const std::vector<std::string>& header) {
        for (std::size_t i = 0; i < column_names.size(); ++i) {
            const auto at = std::find(header.begin(), header.end(), column_names[i]);
            if (at == header.end()) fail(1, column_names[i], "column is missing", "", "name it in the first line");
            column_[i] = static_cast<std::size_t>(at - header.begin());
        }
    }

    double number(const std::vector<std::string>& cells, std::size_t column) {
        double value = 0;
        if (column_[column] >= cells.size()) {
            fail(line_, column_names[column], "cell is missing", "", "give every column a value");
            return 1;
        }
        const std::string& cell = cells[column_[column]];
        const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
        const bool whole =
            column + 1 == column_names.size() || value == static_cast<double>(static_cast<std::int64_t>(value));
        if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0) || value > 1e9 || !whole) {
            fail(line_, column_names[column], fmt::format("\"{}\" is not a positive number", cell), "", "");
            return 1;
        }
        return value;
    }

    MeasuredStep read_row(const std::vector<std::string>& cells) {
        MeasuredStep step;
        step.line = line_;
        std::int64_t* const fields[] = {&step.gpus,  &step.global_batch, &step.micro_batch, &step.hidden,
                                        &step.heads, &step.layers,       &step.sequence,    &step.tensor,
                                        &step.data,  &step.pipeline};
        for (std::size_t i = 0; i < std::size(fields); ++i) *fields[i] = static_cast<std::int64_t>(number(cells, i));
        step.seconds = number(cells, column_names.size() - 1) * 1e-3;
        if (faults_.empty() && step.tensor * step.data * step.pipeline != step.gpus) {
            fail(line_, "tp",
                 fmt::format("tp x dp x pp = {} but gpus = {}", step.tensor * step.data * step.pipeline, step.gpus),
                 "equal products", "");
        }
        return step;
    }

    std::string path_;
    int line_ = 1;
    std::array<std::size_t, column_names.size()> column_{};
    std::vector<Fault> faults_;
};

}  // namespace

std::string MeasuredStep::group() const { return fmt::format("{}/{}/{}/{}", gpus, hidden, layers, sequence); }

std::string MeasuredStep::layout() const {
    return fmt::format("tp {} dp {} pp {} mb {}", tensor, data, pipeline, micro_batch);
}

std::vector<MeasuredStep> read_measured_steps(const std::string& path) { return StepReader(path).read(); }

ValidScenario scenario_of(const MeasuredStep& step, const std::string& template_path) {
    const auto set = [](const char* key, std::int64_t value) { return fmt::format("{}={}", key, value); };
    return validate(read_scenario(
        template_path,
        {set("job.gpus", step.gpus), set("training.batch_global", step.global_batch),
         set("training.micro_batch", step.micro_batch), set("training.model.hidden", step.hidden),
         set("training.model.heads", step.heads), set("training.model.layers", step.layers),
         set("training.model.sequence", step.sequence), set("training.parallel.tensor", step.tensor),
         set("training.parallel.data", step.data), set("training.parallel.pipeline", step.pipeline)}));
}

std::string data_folder() {
    const char* folder = std::getenv("REHEARSE_DATA");
    return folder != nullptr && *folder != '\0' ? folder : "../shared/data";
}

}  // namespace rehearse

#include "scenarios/validation/validate_a100.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/parallel_for.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/calibration.hpp"
#include "scenarios/validation/marked_block.hpp"
#include "scenarios/validation/published.hpp"
#include "sim/base/quantile.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

// Fold of each group: the largest groups first, each to the fold with the fewest rows so far.
std::map<std::string, std::size_t> assign_folds(const std::vector<MeasuredStep>& steps, std::size_t folds) {
    std::map<std::string, std::size_t> sizes;
    for (const MeasuredStep& step : steps) ++sizes[step.group()];
    std::vector<std::pair<std::string, std::size_t>> groups(sizes.begin(), sizes.end());
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::size_t> rows(folds);
    std::map<std::string, std::size_t> fold_of;
    for (const auto& [group, size] : groups) {
        const auto fold = static_cast<std::size_t>(std::min_element(rows.begin(), rows.end()) - rows.begin());
        fold_of[group] = fold;
        rows[fold] += size;
    }
    return fold_of;
}

std::string summary_line(const std::string& what, const std::vector<StepPrediction>& predictions) {
    const ErrorSummary s = summarise(predictions);
    return fmt::format("{:44} {:4} rows: MAPE {:.2f} %, median {:.2f} %, p95 {:.2f} %\n", what, predictions.size(),
                       100 * s.mape, 100 * s.median, 100 * s.p95);
}

// Whether the error is beyond the band of the file.
bool add_accuracy(Table& table, const std::string& file, const std::vector<StepPrediction>& predictions,
                  const std::string& use, std::optional<double> band) {
    const ErrorSummary s = summarise(predictions);
    const auto percent = [](double fraction) { return fmt::format("{:.1f} %", 100 * fraction); };
    table.add({std::filesystem::path(file).filename().string(), fmt::format("{}", predictions.size()), percent(s.mape),
               percent(s.median), percent(s.p95), use,
               band ? fmt::format("{:.0f} %{}", 100 * *band, s.mape > *band ? " EXCEEDED" : "") : "-"});
    return band && s.mape > *band;
}

std::string worst_rows(std::vector<StepPrediction> predictions, std::int64_t count) {
    if (count >= 0) {
        std::stable_sort(predictions.begin(), predictions.end(), [](const StepPrediction& a, const StepPrediction& b) {
            return std::abs(a.error()) > std::abs(b.error());
        });
        predictions.resize(std::min(predictions.size(), static_cast<std::size_t>(count)));
    }
    Table table({"line", "gpus", "hidden", "layers", "batch", "layout", "measured ms", "predicted ms", "error"});
    for (const StepPrediction& p : predictions) {
        const MeasuredStep& m = p.measured;
        table.add({fmt::format("{}", m.line), fmt::format("{}", m.gpus), fmt::format("{}", m.hidden),
                   fmt::format("{}", m.layers), fmt::format("{}", m.global_batch), m.layout(),
                   fmt::format("{:.1f}", 1e3 * m.seconds), fmt::format("{:.1f}", 1e3 * p.predicted_s),
                   fmt::format("{:+.1f} %", 100 * p.error())});
    }
    return table.render(TableFormat::text);
}

nlohmann::ordered_json json_of(const std::string& file, const std::vector<StepPrediction>& predictions) {
    const ErrorSummary s = summarise(predictions);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const StepPrediction& p : predictions) {
        rows.push_back({{"line", p.measured.line}, {"gpus", p.measured.gpus}, {"layout", p.measured.layout()},
                        {"measured_s", p.measured.seconds}, {"predicted_s", p.predicted_s}, {"error", p.error()}});
    }
    return {{"file", file}, {"rows", predictions.size()}, {"mape", s.mape}, {"median", s.median}, {"p95", s.p95},
            {"steps", rows}};
}

}  // namespace

std::vector<StepPrediction> predict_steps(const std::vector<MeasuredStep>& steps, const DeviceProfile& profile) {
    std::vector<StepPrediction> predictions(steps.size());
    parallel_for(steps.size(), 0, [&](std::size_t i) {
        const Predictor predictor(scenario_of(steps[i]));
        predictions[i] = {steps[i], predictor.step_seconds(profile, {1}, Fidelity::flow)};
    });
    return predictions;
}

ErrorSummary summarise(const std::vector<StepPrediction>& predictions) {
    std::vector<double> errors;
    for (const StepPrediction& p : predictions) errors.push_back(std::abs(p.error()));
    std::sort(errors.begin(), errors.end());
    ErrorSummary summary;
    for (const double error : errors) summary.mape += error / static_cast<double>(errors.size());
    summary.median = median(errors);
    summary.p95 = errors[std::min(errors.size() - 1, errors.size() * 95 / 100)];
    return summary;
}

std::vector<StepPrediction> cross_validate(const std::vector<MeasuredStep>& steps,
                                           const std::vector<MeasuredStep>& also, const DeviceProfile& start,
                                           std::size_t folds) {
    const std::map<std::string, std::size_t> fold_of = assign_folds(steps, folds);
    std::vector<StepPrediction> all;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<MeasuredStep> held, rest = also;
        for (const MeasuredStep& step : steps) (fold_of.at(step.group()) == fold ? held : rest).push_back(step);
        if (held.empty()) continue;
        const CalibrationResult fitted = run_calibration(a100_calibration(rest), start);
        for (StepPrediction& p : predict_steps(held, fitted.profile)) all.push_back(std::move(p));
    }
    return all;
}

namespace {

struct StepFile {
    std::string path;
    std::vector<MeasuredStep> steps;
};

std::vector<StepFile> read_files(const std::vector<std::string>& paths) {
    std::vector<StepFile> files;
    for (const std::string& path : paths) files.push_back({path, read_measured_steps(path)});
    return files;
}

// The rows of a file predicted by fits on the other folds of it and on the files of the calibration, itself left out.
std::vector<StepPrediction> held_out(const StepFile& file, const std::vector<StepFile>& fitted_on,
                                     const DeviceProfile& profile, std::size_t folds) {
    std::vector<MeasuredStep> also;
    for (const StepFile& other : fitted_on) {
        if (other.path != file.path) also.insert(also.end(), other.steps.begin(), other.steps.end());
    }
    return cross_validate(file.steps, also, profile, folds);
}

void write_accuracy(const A100Request& request, const Table& accuracy) {
    std::vector<std::string> overrides;
    if (!request.profile.empty()) overrides.push_back("models.profile=" + request.profile);
    const std::string inputs = inputs_fingerprint(a100_rows, overrides);
    write_block(request.markdown_path, a100_suite, accuracy_block(inputs, accuracy.render(TableFormat::markdown), ""));
    fmt::print("written: block {} of {}\n", a100_suite, request.markdown_path);
}

}  // namespace

nlohmann::ordered_json validate_a100_command(const A100Request& request) {
    const bool document = !request.markdown_path.empty();
    if (document) read_block(request.markdown_path, a100_suite);  // a fault of the document comes before the work
    const DeviceProfile profile = read_profile(
        request.profile.empty() ? data_path("models/compute/profiles/a100-sxm-80g.yaml").string() : request.profile);
    const std::vector<std::string> defaults = default_a100_data().step_files;
    const std::vector<StepFile> files = read_files(request.data.empty() ? defaults : std::vector{request.data});
    const std::vector<StepFile> fitted_on = request.folds < 2 ? std::vector<StepFile>{} : read_files(defaults);
    const std::map<std::string, double> bands =
        read_error_bands(data_path("tests/validation/a100-steps.yaml").string());
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    Table accuracy({"measured steps", "rows", "MAPE", "median", "95th percentile", "use", "MAPE band"});
    fmt::print("measured A100 training steps against {}\n", profile.name);
    for (const StepFile& file : files) {
        const std::vector<StepPrediction> predictions = predict_steps(file.steps, profile);
        fmt::print("\n{}\n{}", file.path, worst_rows(predictions, request.rows));
        fmt::print("{}", summary_line("shipped profile", predictions));
        json.push_back(json_of(file.path, predictions));
        const bool fitted = std::find(defaults.begin(), defaults.end(), file.path) != defaults.end();
        const auto named = bands.find(std::filesystem::path(file.path).filename().string());
        const std::optional<double> band = named == bands.end() ? std::nullopt : std::optional(named->second);
        bool exceeds = add_accuracy(accuracy, file.path, predictions, fitted ? "fitted" : "predicted", band);
        json.back()["exceeds_band"] = exceeds;
        if (request.folds < 2) continue;
        const std::vector<StepPrediction> held = held_out(file, fitted_on, profile, request.folds);
        fmt::print("{}", summary_line(fmt::format("fitted without the row's fold ({} folds)", request.folds), held));
        exceeds |= add_accuracy(accuracy, file.path, held, fmt::format("predicted, {} folds", request.folds), band);
        json.back()["exceeds_band"] = exceeds;
        json.back()["cross_validated"] = {{"folds", request.folds}, {"mape", summarise(held).mape},
                                          {"median", summarise(held).median}, {"p95", summarise(held).p95}};
    }
    if (document) write_accuracy(request, accuracy);
    return json;
}

}  // namespace rehearse

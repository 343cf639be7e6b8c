// The calibrations of the two systems of MegaScale-MoE: how much slower memory-bound kernels and launches are than
// counted, one number for each system, on its fitted row.
#include <memory>

#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/calibration.hpp"
#include "scenarios/validation/published.hpp"

namespace rehearse {

namespace {

struct FittedRow {
    double step_s = 0, band = 1;
    Predictor predictor;
};

// The rows marked fit whose scenario takes the profile.
std::vector<FittedRow> fitted_rows(const std::string& profile) {
    std::vector<FittedRow> rows;
    for (const PublishedRow& row : read_published(data_path("tests/validation/megascale-moe.yaml").string()).rows) {
        if (row.use != PublishedUse::fit) continue;
        Predictor predictor(
            validate(read_scenario(data_path("scenarios/library/" + row.scenario + ".yaml").string())));
        if (predictor.scenario().models().profile_name != profile) continue;
        rows.push_back({*row.step_s, *row.band, std::move(predictor)});
    }
    return rows;
}

}  // namespace

Calibration megascale_moe_calibration(const std::string& profile) {
    const auto rows = std::make_shared<std::vector<FittedRow>>(fitted_rows(profile));
    Calibration calibration;
    calibration.profile = profile;
    calibration.data = "MegaScale-MoE (EuroSys'26), table 3, 240 GPUs, this system's row";
    calibration.parameters = {{"kernel.pass_slowdown", 2.0, 0.5, 10.0, "memory-bound kernels and launches, relative"}};
    calibration.options.step = 0.03;
    const auto residuals = [rows](const DeviceProfile& with) {
        std::vector<double> errors;
        for (const FittedRow& row : *rows) {
            const double step = row.predictor.step_seconds(with, {1, 2, 3, 4, 5}, Fidelity::flow);
            errors.push_back((step / row.step_s - 1) / row.band);
        }
        return errors;
    };
    calibration.residuals = residuals;
    calibration.derivatives = residuals;
    calibration.residuals_of = [](const std::string&) { return std::vector<std::size_t>{}; };
    return calibration;
}

}  // namespace rehearse

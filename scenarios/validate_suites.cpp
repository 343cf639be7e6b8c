// The suites that `rehearse validate` knows.
#include <algorithm>

#include "runtime/parallel_for.hpp"
#include "scenarios/calibration.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/read_scenario.hpp"
#include "scenarios/validate_scenario.hpp"
#include "scenarios/validation.hpp"

namespace rehearse {

namespace {

const std::vector<std::uint64_t> validation_seeds{1, 2, 3, 4, 5};

Predictor predictor_of(const std::string& scenario) {
    return Predictor(validate(read_scenario(data_path("scenarios/library/" + scenario + ".yaml").string())));
}

ValidationRow predict_row(const PublishedRow& published) {
    const Predictor predictor = predictor_of(published.scenario);
    const Workload& workload = predictor.workload();
    const DeviceProfile& profile = predictor.scenario().models().profile;
    ValidationRow row;
    row.published = published;
    row.system = predictor.scenario().name();
    row.gpus = workload.layout.rank_count();
    row.step_s = predictor.step_seconds(profile, validation_seeds, Fidelity::flow);
    const double tokens = static_cast<double>(workload.training.batch() * workload.training.model.sequence);
    row.mfu = tokens * workload.flops_per_token / (row.step_s * static_cast<double>(row.gpus) * profile.peak.value);
    return row;
}

// An ablation row and its duplicate among the scaling rows are left out together.
double predict_left_out(const std::string& scenario) {
    std::vector<std::string> left_out{scenario};
    if (scenario == "megascale_ablation_9") left_out.push_back("megascale_175b_256");
    const Predictor predictor = predictor_of(scenario);
    const CalibrationResult fitted =
        run_calibration(megascale_calibration(left_out), predictor.scenario().models().profile);
    return predictor.step_seconds(fitted.profile, validation_seeds, Fidelity::flow);
}

ValidationSuite megascale_suite(const ValidateRequest& request) {
    PublishedTable table = read_published(data_path("tests/validation/megascale.yaml").string());
    if (request.rows == "held") table = held_rows(std::move(table));
    ValidationSuite suite{table.suite, table.title, {}};
    suite.rows.resize(table.rows.size());
    parallel_for(table.rows.size(), 0, [&](std::size_t i) { suite.rows[i] = predict_row(table.rows[i]); });
    for (ValidationRow& row : suite.rows) {
        if (request.leave_one_out != "on" || !row.published.scenario.starts_with("megascale_ablation_")) continue;
        row.left_out_s = predict_left_out(row.published.scenario);
    }
    return suite;
}

}  // namespace

std::vector<SuiteEntry> validation_suites() {
    return {{"megascale", "MegaScale and Megatron-LM (NSDI'24), 175B and 530B", megascale_suite}};
}

}  // namespace rehearse

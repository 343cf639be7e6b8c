// What the shipped profiles must keep, on rows that are quick to predict. `rehearse validate` predicts all of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "runtime/parallel_for.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/calibration.hpp"
#include "scenarios/validation/published.hpp"
#include "scenarios/validation/validate_a100.hpp"

namespace rehearse {
namespace {

// Table 3 of MegaScale (NSDI'24), 256 GPUs: each row within its bands, and every technique gains.
TEST(Accuracy, AblationRowsKeepTheirBandsAndOrder) {
    std::vector<PublishedRow> rows;
    for (PublishedRow& row : read_published(data_path("tests/validation/megascale.yaml").string()).rows) {
        if (row.scenario.starts_with("megascale_ablation_")) rows.push_back(std::move(row));
    }
    ASSERT_EQ(rows.size(), 9U);
    std::vector<double> mfu(rows.size());
    parallel_for(rows.size(), 0, [&](std::size_t i) {
        const Predictor predictor(
            validate(read_scenario(data_path("scenarios/library/" + rows[i].scenario + ".yaml").string())));
        const Workload& workload = predictor.workload();
        const DeviceProfile& profile = predictor.scenario().models().profile;
        const double step = predictor.step_seconds(profile, {1, 2, 3, 4, 5}, Fidelity::flow);
        const double tokens = static_cast<double>(workload.training.batch() * workload.training.model.sequence);
        mfu[i] = tokens * workload.flops_per_token / (step * 256 * profile.peak.value);
        EXPECT_NEAR(step / *rows[i].step_s, 1, *rows[i].band) << rows[i].scenario;
        EXPECT_NEAR(mfu[i], *rows[i].mfu, *rows[i].mfu_band) << rows[i].scenario;
    });
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_GT(mfu[i], mfu[i - 1]) << rows[i].scenario;
}

// Tables 3 and 5 of MegaScale-MoE (EuroSys'26): the rows that were fitted and those that are predicted keep their
// bands, and so do the speed-ups, of one seed.
TEST(Accuracy, MixtureOfExpertsKeepsItsBands) {
    const PublishedTable table = held_rows(read_published(data_path("tests/validation/megascale-moe.yaml").string()));
    ASSERT_EQ(table.rows.size(), 8U);
    std::map<std::string, double> steps;
    for (const PublishedRow& row : table.rows) {
        const Predictor predictor(
            validate(read_scenario(data_path("scenarios/library/" + row.scenario + ".yaml").string())));
        const double step =
            predictor.step_seconds(predictor.scenario().models().profile, {1}, Fidelity::flow);
        steps[row.scenario] = step;
        if (!row.step_s) continue;
        EXPECT_NEAR(step / *row.step_s, 1, row.use == PublishedUse::fit ? 0.005 : *row.band) << row.scenario;
    }
    ASSERT_EQ(table.ratios.size(), 4U);
    for (const PublishedRatio& ratio : table.ratios)
        EXPECT_NEAR(steps.at(ratio.slower) / steps.at(ratio.faster), ratio.ratio, ratio.band) << ratio.faster;
}

double mape_of(const std::string& file) {
    const DeviceProfile profile = read_profile(data_path("models/compute/profiles/a100-sxm-80g.yaml").string());
    return summarise(predict_steps(read_measured_steps(file), profile)).mape;
}

// Measured A100 steps (vTrain, MICRO'24): 704 on one node, 54 on many.
TEST(Accuracy, MeasuredStepsOnA100) {
    const std::vector<std::string> files = default_a100_data().step_files;
    for (const std::string& file : files) {
        if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there; set REHEARSE_DATA";
    }
    const auto bands = read_error_bands(data_path("tests/validation/a100-steps.yaml").string());
    for (const std::string& file : files)
        EXPECT_LE(mape_of(file), bands.at(std::filesystem::path(file).filename().string())) << file;
}

}  // namespace
}  // namespace rehearse

// The suites that `rehearse validate` knows.
#include <algorithm>

#include "runtime/parallel_for.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/calibration.hpp"
#include "scenarios/validation/measured_suite.hpp"
#include "scenarios/validation/suites.hpp"
#include "scenarios/validation/validate_deepseek.hpp"

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

// Each ablation row predicted with the profile that the fit would have given without it. Row 9 stands among the scaling
// rows a second time; both are left out together.
void predict_left_out(ValidationSuite& suite) {
    std::vector<ValidationRow*> rows;
    std::vector<std::vector<std::string>> left_out;
    for (ValidationRow& row : suite.rows) {
        if (!row.published.scenario.starts_with("megascale_ablation_")) continue;
        rows.push_back(&row);
        left_out.push_back({row.published.scenario});
        if (row.published.scenario == "megascale_ablation_9") left_out.back().emplace_back("megascale_175b_256");
    }
    if (rows.empty()) return;
    const DeviceProfile fitted = predictor_of(rows.front()->published.scenario).scenario().models().profile;
    const std::vector<DeviceProfile> profiles = profiles_without(megascale_calibration(), fitted, left_out);
    parallel_for(rows.size(), 0, [&](std::size_t i) {
        const Predictor predictor = predictor_of(rows[i]->published.scenario);
        rows[i]->left_out_s = predictor.step_seconds(profiles[i], validation_seeds, Fidelity::flow);
    });
}

// The suite of a table of steps.
ValidationSuite steps_suite(const std::string& name, const ValidateRequest& request) {
    PublishedTable table = published_suite(name);
    if (request.rows == "held") table = held_rows(std::move(table));
    ValidationSuite suite{table.suite, table.title, {}, table.ratios};
    suite.rows.resize(table.rows.size());
    parallel_for(table.rows.size(), 0, [&](std::size_t i) { suite.rows[i] = predict_row(table.rows[i]); });
    if (request.leave_one_out == "on") predict_left_out(suite);
    return suite;
}

}  // namespace

std::vector<SuiteEntry> validation_suites() {
    const auto steps = [](const char* name, const char* what) {
        SuiteEntry entry{name, what, [name](const ValidateRequest& request) { return steps_suite(name, request); }};
        entry.inputs = [name] { return table_fingerprint(held_rows(published_suite(name))); };
        return entry;
    };
    return {steps("megascale", "MegaScale and Megatron-LM (NSDI'24), 175B and 530B"),
            steps("megascale-moe", "MegaScale-MoE and Megatron-LM (EuroSys'26), 352B mixture of experts"),
            {"deepseek-v3", "DeepSeek-V3 on 2,048 H800: a step under DualPipe", deepseek_v3_suite,
             [] { return table_fingerprint(published_suite("deepseek-v3")); }},
            deepep_suite(), megatron_exchange_suite(), moe_memory_suite(), qwen3_imbalance_suite(), article_suite(),
            nccl_suite(), gemm_h100_suite(), nvlink_a100_suite()};
}

}  // namespace rehearse

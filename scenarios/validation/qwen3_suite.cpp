// What unequal routing costs: the same step with the scenario's routing and with forced balance.
#include <fmt/format.h>

#include "runtime/parallel_for.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/predict.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/suites.hpp"

namespace rehearse {

namespace {

enum class Balance : std::uint8_t { forced, real };

struct StepOf {
    double seconds = 0;
    double tflops = 0;  // of the model, per GPU
};

StepOf predict_step(const std::string& name, Balance balance) {
    Scenario scenario = read_scenario(data_path("scenarios/library/" + name + ".yaml").string());
    if (balance == Balance::forced) scenario.training.routing.kind = RoutingKind::balanced;
    const Predictor predictor(validate(std::move(scenario)));
    const Workload& workload = predictor.workload();
    const double seconds =
        predictor.step_seconds(predictor.scenario().models().profile, {predictor.scenario().seed()}, Fidelity::flow);
    const double tokens = static_cast<double>(workload.training.batch() * workload.training.model.sequence);
    const double gpus = static_cast<double>(workload.layout.rank_count());
    return {seconds, tokens * workload.flops_per_token / (seconds * gpus) / 1e12};
}

FigurePredictions predict_qwen3(const PublishedTable& table) {
    std::vector<StepOf> steps(2 * table.scenarios.size());
    parallel_for(steps.size(), 0, [&](std::size_t i) {
        steps[i] = predict_step(table.scenarios[i / 2], i % 2 == 0 ? Balance::forced : Balance::real);
    });
    FigurePredictions figures;
    for (std::size_t i = 0; i < table.scenarios.size(); ++i) {
        const std::string tokens = table.scenarios[i].substr(table.scenarios[i].rfind('_') + 1);  // 16k
        const std::string row = fmt::format("{}K", tokens.substr(0, tokens.size() - 1));
        figures["slow-down, " + row] = steps[2 * i + 1].seconds / steps[2 * i].seconds;
        figures["forced balance, " + row] = steps[2 * i].tflops;
    }
    return figures;
}

}  // namespace

SuiteEntry qwen3_imbalance_suite() {
    return figure_suite("qwen3-imbalance", "unequal routing against forced balance, Qwen3-235B on 256 H100",
                        predict_qwen3);
}

}  // namespace rehearse

#include "scenarios/validation/validate_deepseek.hpp"

#include <fmt/format.h>

#include <map>

#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/dual_step.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

std::map<std::string, double> named(const DualFigures& figures) {
    const DualStep& step = figures.step;
    return {{"forward alone", step.forward},
            {"backward alone", step.backward},
            {"weight gradients alone", step.weights},
            {"forward and backward overlapped", step.pair},
            {"bubble", step.bubble},
            {"bubble, closed form", step.closed_form},
            {"optimizer", step.optimizer},
            {"pair of 4-layer chunks", 1e3 * figures.chunk.span},
            {"expert communication hidden in it", 100 * figures.chunk.hidden()}};
}

}  // namespace

ValidationSuite deepseek_v3_suite(const ValidateRequest&) {
    const PublishedTable table = read_published(data_path("tests/validation/deepseek-v3.yaml").string());
    ValidationSuite suite{table.suite, table.title, {}, table.ratios, {}};
    for (const PublishedRow& published : table.rows) {
        const ValidScenario scenario =
            validate(read_scenario(data_path("scenarios/library/" + published.scenario + ".yaml").string()));
        const DualFigures figures = dual_figures(scenario, 1);
        ValidationRow& row = suite.rows.emplace_back();
        row.published = published;
        row.system = scenario.name();
        row.gpus = scenario.training().parallel.ranks();
        row.step_s = figures.step.step;
        row.mfu = figures.mfu;
        const std::map<std::string, double> values = named(figures);
        for (const PublishedFigure& figure : table.figures) {
            if (figure.scenario != published.scenario) continue;
            const auto at = values.find(figure.quantity);
            REHEARSE_CHECK(at != values.end(), fmt::format("no figure is called {}", figure.quantity));
            suite.figures.push_back({figure, at->second});
        }
    }
    return suite;
}

}  // namespace rehearse

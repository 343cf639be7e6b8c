// DeepSeek-V3 on 2,048 GPUs: the model's published size, the kernels that its profile was read from, and the step that
// is predicted with them.
#include <gtest/gtest.h>

#include "models/collectives/expert_exchange.hpp"
#include "models/workload/moe/moe_model.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/validation/dual_step.hpp"
#include "scenarios/validation/validate_deepseek.hpp"

namespace rehearse {
namespace {

const ValidScenario& deepseek() {
    static const ValidScenario scenario =
        validate(read_scenario(data_path("scenarios/library/deepseek_v3_2048.yaml").string()));
    return scenario;
}

// arXiv 2412.19437: 671B parameters, 37B activated; without the output of the second token.
TEST(DeepSeek, HasItsPublishedParameters) {
    const ModelSpec& model = deepseek().training().model;
    EXPECT_NEAR(moe_parameters(model, ExpertCount::all) / 1e9, 671, 0.5);
    const double active = moe_parameters(model, ExpertCount::active) - static_cast<double>(model.vocab * model.hidden);
    EXPECT_NEAR(active / 1e9, 37, 0.5);
}

// ISCA'25, table 4: 385 TFLOP/s a GPU causally and 432 with the full square at 19.926 s.
TEST(DeepSeek, HasThePublishedOperationsOfAStep) {
    const ModelSpec& model = deepseek().training().model;
    const double tokens = 15360.0 * 4096.0, gpu_seconds = 2048 * 19.926;
    EXPECT_NEAR(tokens * moe_flops_per_token(model, AttentionSquare::causal) / gpu_seconds / 385e12, 1, 0.02);
    EXPECT_NEAR(tokens * moe_flops_per_token(model, AttentionSquare::full) / gpu_seconds / 432e12, 1, 0.02);
}

// The rates of the profile give back the kernel times that they were derived from.
TEST(DeepSeek, ExchangesBesideOperatorsTakeTheTracedTimes) {
    const DeviceProfile& profile = deepseek().models().profile;
    Workload workload = build_workload(deepseek().training());
    const LocalFabric fabric{{}, {}, 8, gigabits_per_second(3200), {64, 8}};
    Work work;
    Operator op;
    op.bytes = 1e12;
    const auto exchange_ms = [&](LocalCollectiveKind kind, double element, Switch cached) {
        LocalCollective collective;
        collective.kind = kind;
        collective.hiding = Hiding::under;
        collective.exchange = {4096, 8, element * 7168, 256, 4, {}, cached};
        work.segments = {{{op}, no_layer, collective}};
        workload.works = {work};
        return 1e3 * price(workload, profile, fabric).front().segments.front().collective.seconds();
    };
    const double fp8 = 1 + 4.0 / 128;
    EXPECT_NEAR(exchange_ms(LocalCollectiveKind::dispatch, fp8, Switch::off), 4.35 + 2.24, 0.05);
    EXPECT_NEAR(exchange_ms(LocalCollectiveKind::dispatch, fp8, Switch::on), 3.41 + 1.97, 0.05);
    EXPECT_NEAR(exchange_ms(LocalCollectiveKind::combine, 2, Switch::on), 6.18 + 1.97, 0.05);
}

TEST(DeepSeek, StepIsPredictedFromItsKernels) {
    const DualFigures figures = dual_figures(deepseek(), 1);
    const DualStep& step = figures.step;
    EXPECT_EQ(figures.expert_nodes, 8U);
    const double passes = step.forward + step.backward + step.weights + step.pair;
    EXPECT_NEAR(passes + step.bubble + step.optimizer, step.step, 1e-9);
    EXPECT_NEAR(step.step / 19.926, 1, 0.05);
    EXPECT_NEAR(step.bubble / 2.06, 1, 0.1);
    EXPECT_GT(step.bubble, step.closed_form);  // stages are not equal, and messages take time
    EXPECT_GE(figures.chunk.hidden(), 0.95);
    EXPECT_NEAR(figures.chunk.span / 0.129, 1, 0.05);
}

TEST(DeepSeek, SuiteNamesEveryFigureOfItsTable) {
    const ValidationSuite suite = deepseek_v3_suite({});
    EXPECT_EQ(suite.rows.size(), 1U);
    EXPECT_EQ(suite.figures.size(),
              read_published(data_path("tests/validation/deepseek-v3.yaml").string()).figures.size());
    for (const ValidationFigure& figure : suite.figures) EXPECT_GT(figure.predicted, 0) << figure.published.quantity;
}

}  // namespace
}  // namespace rehearse

// Parameters and FLOPs of mixtures of experts, against what is published of them.
#include "models/workload/moe/moe_model.hpp"

#include <gtest/gtest.h>

#include "models/workload/flops.hpp"
#include "models/workload/memory.hpp"
#include "models/workload/transformer.hpp"
#include "tests/models/moe_fixture.hpp"

namespace rehearse {
namespace {

TEST(MoeModel, Internal352B) {
    ModelSpec model = moe_352b().model;
    EXPECT_NEAR(model.parameters(), 351.86e9, 0.005e9);
    const double embedding = 65536.0 * 4096;  // a look-up, which nothing is multiplied with
    EXPECT_NEAR(moe_parameters(model, ExpertCount::active) - embedding, 45.07e9, 0.01e9);
    EXPECT_NEAR(moe_flops_per_token(model, AttentionSquare::causal), 282.5e9, 0.05e9);
    EXPECT_NEAR(moe_flops_per_token(model, AttentionSquare::full), 294.6e9, 0.05e9);
    model.experts.shared = 0;
    EXPECT_NEAR(model.parameters(), 341.29e9, 0.005e9);
    EXPECT_NEAR(moe_parameters(model, ExpertCount::active) - embedding, 34.50e9, 0.01e9);
    EXPECT_NEAR(moe_flops_per_token(model, AttentionSquare::causal), 219.1e9, 0.05e9);
}

// MegaScale-MoE (EuroSys'26), table 3: 720 x 8,192 tokens in 21.61 s on 240 and in 4.19 s on 1,440 H800 of 989 TFLOP/s.
TEST(MoeModel, PublishedTimesGiveThePublishedMfu) {
    const double flops = model_flops_per_token(moe_352b(), AttentionCount::windowed) * 720 * 8192;
    EXPECT_NEAR(flops / (21.61 * 240 * 989e12), 0.3248, 0.001);
    EXPECT_NEAR(flops / (4.19 * 1440 * 989e12), 0.2789, 0.001);
}

// The shares of all ranks of one replica make the model, whatever the grid (gate and norms are held by every rank).
TEST(MoeModel, RanksHoldTheWholeModelBetweenThem) {
    for (const TrainingSpec& training : {moe_352b(), sequence_and_experts()}) {
        const ParameterShare share = parameters_per_rank(training, {0, 60});
        const double copies = training.parallel.attention == AttentionCut::sequence ? 1 : 8;
        const double sum = share.experts * 8 + share.dense * copies + 2 * 65536.0 * 4096;
        EXPECT_NEAR(sum / training.model.parameters(), 1, 1e-4);
    }
}

// SwiGLU, grouped-query attention, and layers without experts (DeepSeek-V3's first three have an MLP).
TEST(MoeModel, DenseLayersHaveAnMlp) {
    ModelSpec model = moe_352b().model;
    const double all = model.parameters();
    model.experts.dense_layers = 2;
    const double expert = 3.0 * 4096 * 14336, gate = 4096.0 * 32;
    EXPECT_NEAR(all - model.parameters(), 2 * (32 * expert + gate), 1);  // the MLP is as wide as the shared expert
}

}  // namespace
}  // namespace rehearse

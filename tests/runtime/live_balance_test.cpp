// The load balancer on live ranks: experts that move take their weights along, copies of one learn as one.
#include <gtest/gtest.h>

#include <numeric>

#include "kernels/communicator/thread_ranks.hpp"
#include "runtime/live/live_balance.hpp"

namespace rehearse {
namespace {

constexpr std::uint32_t ranks = 2;

TrainingSpec training_of_six_experts() {
    TrainingSpec training;
    training.model.kind = ModelKind::moe;
    training.model.hidden = 16;
    training.model.experts.routed = 6;
    training.model.experts.ffn = 8;
    training.parallel.expert = ranks;
    return training;
}

// All weights of expert e are e, so that a slot shows which expert it really holds.
void write_experts(ExpertLayer& layer, std::uint32_t rank, std::span<const std::uint32_t> expert_of_slot) {
    const std::uint32_t slots = layer.shape().slots;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        const auto value = kernels::from_float<LiveElement>(static_cast<float>(expert_of_slot[rank * slots + slot]));
        for (auto* stack : {&layer.weights().up, &layer.weights().down}) {
            const std::size_t size = stack->size() / slots;
            std::fill_n(stack->begin() + static_cast<std::ptrdiff_t>(slot * size), size, value);
        }
    }
}

// Expert 0 gets nearly all tokens of every step: it has to be copied.
TEST(LiveBalance, WeightsFollowTheirExperts) {
    BalancerPolicy policy;
    policy.active = Switch::on;
    policy.spec.period = 2;
    policy.spec.window = 2;
    policy.spec.spare_slots = 1;
    std::vector<std::vector<float>> held(ranks);
    std::vector<std::vector<float>> gradients(ranks);
    run_thread_ranks(ranks, [&](Communicator& world) {
        kernels::CpuContext context;
        const ExpertLayerShape shape{.tokens = 8, .hidden = 16, .experts = 6, .top_k = 2, .inner = 8, .slots = 4};
        ExpertLayer layer(shape, world, context);
        LiveBalance balance(training_of_six_experts(), policy, {&layer}, world, world);
        write_experts(layer, world.rank(), std::vector<std::uint32_t>{0, 1, 2, 0, 3, 4, 5, 3});
        // A gate that reads feature e for expert e; every token wants 0, then one of the others in turn.
        auto& gate = layer.weights().gate;
        for (std::size_t e = 0; e < 6; ++e) gate[e * 6 + e] = kernels::from_float<LiveElement>(1.0f);
        for (std::size_t token = 0; token < 8; ++token) {
            layer.input()[token * 16] = kernels::from_float<LiveElement>(9.0f);
            layer.input()[token * 16 + 1 + token % 5] = kernels::from_float<LiveElement>(5.0f);
        }
        for (int step = 0; step < 6; ++step) {
            layer.run("gate");
            layer.run("top-k");
            balance.count(0);
            balance.decide();
            balance.migrate();
        }
        std::fill(layer.weights().up_gradient.begin(), layer.weights().up_gradient.end(), 1.0f);
        balance.join_replicas();
        const std::size_t up = layer.weights().up.size() / 4;
        for (std::size_t slot = 0; slot < 4; ++slot) {
            held[world.rank()].push_back(kernels::to_float(layer.weights().up[slot * up]));
            gradients[world.rank()].push_back(layer.weights().up_gradient[slot * up]);
        }
        layer.run("permute");
        layer.dispatch();  // rows go where the map says: every slot's expert is held there
    });
    std::vector<int> copies(6);
    for (const std::vector<float>& rank : held) {
        for (const float expert : rank) ++copies[static_cast<std::size_t>(expert)];
    }
    EXPECT_EQ(std::accumulate(copies.begin(), copies.end(), 0), 8);
    for (const int count : copies) EXPECT_GE(count, 1);
    EXPECT_GE(copies[0], 2);
    // Gradients of 1 in each slot: the first slot of an expert has as many as it has copies, the others keep theirs.
    float total = 0, expected = 0;
    for (const std::vector<float>& rank : gradients) total = std::accumulate(rank.begin(), rank.end(), total);
    for (const int count : copies) expected += static_cast<float>(2 * count - 1);
    EXPECT_EQ(total, expected);
}

}  // namespace
}  // namespace rehearse

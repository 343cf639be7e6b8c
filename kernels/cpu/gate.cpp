#include "kernels/cpu/gate.hpp"

#include "kernels/body/gate.hpp"
#include "kernels/cpu/launch.hpp"

namespace rehearse::kernels {

namespace {

void check_choice(const Choice& choice, std::int64_t tokens, std::int64_t experts) {
    check_same_shape(choice.experts, choice.weights, "chosen experts and their weights");
    const std::int64_t top_k = choice.experts.cols();
    REHEARSE_CHECK(choice.experts.rows() == tokens, "one row of chosen experts per token");
    REHEARSE_CHECK(top_k >= 1 && top_k <= experts,
                   "top_k is " + std::to_string(top_k) + " of " + std::to_string(experts) + " experts");
}

}  // namespace

void select_experts(CpuContext& context, Matrix<const float> logits, std::span<const float> bias, Choice choice,
                    std::span<std::int32_t> tokens_per_expert) {
    const std::int64_t tokens = logits.rows(), experts = logits.cols();
    check_choice(choice, tokens, experts);
    REHEARSE_CHECK(bias.empty() || static_cast<std::int64_t>(bias.size()) == experts, "one bias per expert");
    REHEARSE_CHECK(static_cast<std::int64_t>(tokens_per_expert.size()) == experts, "one count per expert");
    const SelectExperts body{logits.data(), bias.empty() ? nullptr : bias.data(), choice.experts.data(),
                             choice.weights.data(), experts, static_cast<int>(choice.experts.cols())};
    run_blocks(context, tokens, body);
    std::fill(tokens_per_expert.begin(), tokens_per_expert.end(), 0);
    for (const std::int32_t expert : choice.experts.values()) ++tokens_per_expert[static_cast<std::size_t>(expert)];
}

void select_experts_backward(CpuContext& context, Choice choice, Matrix<const float> d_weights,
                             Matrix<float> d_logits) {
    check_choice(choice, d_logits.rows(), d_logits.cols());
    check_same_shape(choice.weights, d_weights, "weights and their gradient");
    const SelectExpertsBackward body{choice.experts.data(), choice.weights.data(), d_weights.data(), d_logits.data(),
                                     d_logits.cols(), static_cast<int>(d_weights.cols())};
    run_blocks(context, d_logits.rows(), body);
}

}  // namespace rehearse::kernels

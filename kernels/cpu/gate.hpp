// The gate of a mixture of experts on the CPU: logits = x W_gate, then top_k experts per token and their weights.
// T is float or Bf16; logits and weights are fp32.
#pragma once

#include "kernels/cpu/gemm.hpp"

namespace rehearse::kernels {

struct Choice {
    Matrix<std::int32_t> experts;  // tokens x top_k, best first
    Matrix<float> weights;         // tokens x top_k; each row adds up to 1
};

// Chooses by logit + bias (`bias` is empty or has one value per expert), equal ones by number; weights are the softmax
// of the logits alone over the chosen ones. `tokens_per_expert` (one value per expert) is the histogram of the choice.
// 1 <= top_k <= experts.
void select_experts(CpuContext& context, Matrix<const float> logits, std::span<const float> bias, Choice choice,
                    std::span<std::int32_t> tokens_per_expert);

// logits (tokens x experts) = x (tokens x hidden) w_gate (hidden x experts), then select_experts.
template <class T>
void gate(CpuContext& context, Matrix<const T> x, Matrix<const T> w_gate, std::span<const float> bias,
          Matrix<float> logits, Choice choice, std::span<std::int32_t> tokens_per_expert) {
    gemm(context, x, w_gate, logits);
    select_experts(context, logits, bias, choice, tokens_per_expert);
}

// Gradient of the logits from that of the weights; 0 for experts not chosen. The gradients of x and w_gate are gemms.
void select_experts_backward(CpuContext& context, Choice choice, Matrix<const float> d_weights,
                             Matrix<float> d_logits);

}  // namespace rehearse::kernels

// Causal multi-head attention on the CPU, as a probe of its cost: softmax(scale Q K^T) V over keys up to the query,
// scale 1 / sqrt(head_dim). Queries go by tiles of 128, so that products behind the diagonal are left out. T is float
// or Bf16; scores are fp32.
//
// Q, K, V and the output are heads x sequence x head_dim without gaps; a batch is more heads.
#pragma once

#include "kernels/attention_shape.hpp"
#include "kernels/cpu/gemm.hpp"

namespace rehearse::kernels {

template <class T>
struct AttentionInput {
    std::span<const T> q, k, v;
};

// `log_sum` (heads x sequence) is what the backward form needs besides the output.
template <class T>
void attention(CpuContext& context, const AttentionShape& shape, const AttentionInput<T>& in, std::span<T> out,
               std::span<float> log_sum);

struct AttentionGradients {
    std::span<float> q, k, v;
};

// Five products where the forward form has two: scores again, dP = dO V^T, dV = P^T dO, dQ = dS K, dK = dS^T Q.
template <class T>
void attention_backward(CpuContext& context, const AttentionShape& shape, const AttentionInput<T>& in,
                        std::span<const std::type_identity_t<T>> out, std::span<const std::type_identity_t<T>> d_out,
                        std::span<const float> log_sum, AttentionGradients gradients);

}  // namespace rehearse::kernels

// The attention probe on a GPU: as kernels/cpu/attention.hpp, all heads of a tile of queries at once. Device memory.
#pragma once

#include "kernels/attention_shape.hpp"
#include "kernels/cuda/gemm.hpp"

namespace rehearse::kernels::cuda {

template <class T>
struct AttentionInput {
    std::span<const T> q, k, v;  // heads x sequence x head_dim each
};

template <class T>
void attention(CudaContext& context, const AttentionShape& shape, const AttentionInput<T>& in, std::span<T> out,
               std::span<float> log_sum);

struct AttentionGradients {
    std::span<float> q, k, v;
};

template <class T>
void attention_backward(CudaContext& context, const AttentionShape& shape, const AttentionInput<T>& in,
                        std::span<const std::type_identity_t<T>> out, std::span<const std::type_identity_t<T>> d_out,
                        std::span<const float> log_sum, AttentionGradients gradients);

}  // namespace rehearse::kernels::cuda

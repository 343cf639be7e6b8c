// The feed-forward network of the experts on the CPU, whole or as its pieces. T is float or Bf16.
//
//     up = x W_up (hidden -> 2 intermediate), activated = SwiGLU(up), y = activated W_down (intermediate -> hidden)
//
// Rows are ordered by expert; `rows_per_expert` says how many each has and adds up to the rows of every matrix. W_up
// and W_down are stacked: experts x hidden x 2 intermediate, and experts x intermediate x hidden.
#pragma once

#include "kernels/cpu/gemm.hpp"

namespace rehearse::kernels {

using RowCounts = std::span<const std::int32_t>;

// One weight matrix per expert, all of one shape, one behind the other.
template <class T>
struct Stacked {
    std::span<T> values;
    std::int64_t experts, rows, cols;

    operator Stacked<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {values, experts, rows, cols};
    }
    Matrix<T> of(std::int64_t expert) const {
        const auto size = static_cast<std::size_t>(rows * cols);
        REHEARSE_CHECK(expert >= 0 && expert < experts && values.size() == size * static_cast<std::size_t>(experts),
                       "expert " + std::to_string(expert) + " of " + std::to_string(experts) + " in a stack of " +
                           std::to_string(values.size()) + " elements");
        return {values.subspan(static_cast<std::size_t>(expert) * size, size), rows, cols};
    }
};
template <class T>
using StackedInput = Stacked<const std::type_identity_t<T>>;

// Rows of a tile: experts' rows are multiplied tile by tile, the last tile of an expert being what is left. Partial
// input works on the same tiles, so it does the same arithmetic.
constexpr std::int64_t tile_rows = 256;

// c's rows of expert e = a's rows of e times W[e] (none), or times W[e]^T (right).
template <class T>
void grouped_gemm(CpuContext& context, RowCounts rows_per_expert, Input<T> a, StackedInput<T> weights, Matrix<T> c,
                  Transposed transposed = Transposed::none);
// dW[e] = X_e^T dY_e, or += that. An expert without rows gets 0.
template <class T>
void grouped_weight_gradient(CpuContext& context, RowCounts rows_per_expert, Matrix<const T> x,
                             Input<T> d_y, Stacked<float> d_weights, Write write);

template <class T>
void swiglu(CpuContext& context, Input<T> up, Matrix<T> activated);
template <class T>
void swiglu_backward(CpuContext& context, Input<T> d_activated, Input<T> up, Matrix<T> d_up);

template <class T>
struct ExpertWeights {
    Stacked<const T> up, down;
};
// What the forward form keeps for the backward form.
template <class T>
struct ExpertActivations {
    Matrix<T> up;         // rows x 2 intermediate
    Matrix<T> activated;  // rows x intermediate
};

// Tile by tile, so that a tile's intermediate values stay in the cache.
template <class T>
void expert_ffn(CpuContext& context, RowCounts rows_per_expert, Input<T> x, const ExpertWeights<T>& weights,
                ExpertActivations<T> kept, Matrix<T> y);

template <class T>
struct ExpertGradients {
    Matrix<T> activated, up, x;  // of the activations; `activated` and `up` are working memory for the caller's reuse
    Stacked<float> w_up, w_down;
};
// From d_y: down dgrad, SwiGLU backward, up dgrad, both weight gradients.
template <class T>
void expert_ffn_backward(CpuContext& context, RowCounts rows_per_expert, Input<T> d_y, Input<T> x,
                         const ExpertWeights<T>& weights, const ExpertActivations<T>& kept, ExpertGradients<T> out,
                         Write write);

}  // namespace rehearse::kernels

// The feed-forward network of the experts on the CPU, whole or as its pieces. T is float or Bf16.
//
//     up = x W_up (hidden -> 2 intermediate), activated = SwiGLU(up), y = activated W_down (intermediate -> hidden)
//
// Rows are ordered by expert; `rows_per_expert` says how many each has and adds up to the rows of every matrix. W_up
// and W_down are stacked: experts x hidden x 2 intermediate, and experts x intermediate x hidden.
#pragma once

#include "kernels/cpu/gemm.hpp"
#include "kernels/experts.hpp"

namespace rehearse::kernels {

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

// Tile by tile, so that a tile's intermediate values stay in the cache.
template <class T>
void expert_ffn(CpuContext& context, RowCounts rows_per_expert, Input<T> x, const ExpertWeights<T>& weights,
                ExpertActivations<T> kept, Matrix<T> y);

// From d_y: down dgrad, SwiGLU backward, up dgrad, both weight gradients.
template <class T>
void expert_ffn_backward(CpuContext& context, RowCounts rows_per_expert, Input<T> d_y, Input<T> x,
                         const ExpertWeights<T>& weights, const ExpertActivations<T>& kept, ExpertGradients<T> out,
                         Write write);

}  // namespace rehearse::kernels

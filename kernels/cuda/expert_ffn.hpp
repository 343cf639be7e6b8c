// The feed-forward network of the experts on a GPU, whole and on rows that are still arriving. As
// kernels/cpu/expert_ffn.hpp, with device memory and a stream; T is float, Bf16 or Fp16.
#pragma once

#include "kernels/cuda/gemm.hpp"

namespace rehearse::kernels::cuda {

// Which method each of the four products takes; faster_methods measures.
struct ExpertMethods {
    GroupedMethod up = GroupedMethod::loop, down = GroupedMethod::loop;
    GroupedMethod down_gradient = GroupedMethod::loop, up_gradient = GroupedMethod::loop;
};

template <class T>
void expert_ffn(CudaContext& context, const ExpertMethods& methods, RowCounts rows_per_expert, Input<T> x,
                const ExpertWeights<T>& weights, ExpertActivations<T> kept, Matrix<T> y);

template <class T>
void expert_ffn_backward(CudaContext& context, const ExpertMethods& methods, RowCounts rows_per_expert, Input<T> d_y,
                         Input<T> x, const ExpertWeights<T>& weights, const ExpertActivations<T>& kept,
                         ExpertGradients<T> out, Write write);

// Measures both methods for all four products on the caller's own operands. Blocks; overwrites `kept`, `y` and the
// activations of `out`.
template <class T>
ExpertMethods faster_methods(CudaContext& context, int repeats, RowCounts rows_per_expert, Input<T> x,
                             const ExpertWeights<T>& weights, ExpertActivations<T> kept, Matrix<T> y,
                             ExpertGradients<T> out);

}  // namespace rehearse::kernels::cuda

// The kernel bodies on a GPU. Matrices and spans are device memory; shapes are checked on the host as on the CPU; every
// launcher returns at once, its work is in the order of the stream. T is float, Bf16 or Fp16.
#pragma once

#include "kernels/attention_shape.hpp"
#include "kernels/body/attention.hpp"
#include "kernels/cuda/context.hpp"
#include "kernels/element.hpp"
#include "kernels/matrix.hpp"

namespace rehearse::kernels::cuda {

struct Choice {
    Matrix<std::int32_t> experts;  // tokens x top_k
    Matrix<float> weights;         // tokens x top_k
};

// A warp per token. As kernels/cpu/gate.hpp.
void select_experts(CudaContext& context, Matrix<const float> logits, std::span<const float> bias, Choice choice);
void select_experts_backward(CudaContext& context, Choice choice, Matrix<const float> d_weights,
                             Matrix<float> d_logits);

// kernels/cpu/permute.hpp's Route in device memory.
struct Route {
    Matrix<std::int32_t> row_of_slot;  // tokens x top_k
    std::span<std::int32_t> slot_of_row, rows_per_expert;

    std::int64_t tokens() const { return row_of_slot.rows(); }
    std::int64_t rows() const { return row_of_slot.rows() * row_of_slot.cols(); }
    int top_k() const { return static_cast<int>(row_of_slot.cols()); }
};

// `chosen` is trusted: it comes from select_experts.
void plan_route(CudaContext& context, Matrix<const std::int32_t> chosen, const Route& route);

template <class T>
void permute(CudaContext& context, Input<T> tokens, const Route& route, Matrix<T> rows);
template <class T>
void permute_backward(CudaContext& context, Input<T> d_rows, const Route& route, Matrix<T> d_tokens);
template <class T>
void combine(CudaContext& context, Input<T> rows, const Route& route, Matrix<const float> weights, Matrix<T> tokens);
template <class T>
void combine_backward(CudaContext& context, Input<T> d_tokens, Input<T> rows, const Route& route,
                      Matrix<const float> weights, Matrix<T> d_rows, Matrix<float> d_weights);

template <class T>
void swiglu(CudaContext& context, Input<T> up, Matrix<T> activated);
template <class T>
void swiglu_backward(CudaContext& context, Input<T> d_activated, Input<T> up, Matrix<T> d_up);

template <class T>
void copy(CudaContext& context, std::span<const std::type_identity_t<T>> from, std::span<T> to);
template <class T>
void scale_add(CudaContext& context, std::span<const std::type_identity_t<T>> a,
               std::span<const std::type_identity_t<T>> b, float factor, std::span<T> out);
// `inputs` holds device pointers, in device memory.
template <class T>
void sum_buffers(CudaContext& context, std::span<const T* const> inputs, std::span<T> out);
template <class T>
void rms_norm(CudaContext& context, Input<T> x, std::span<const std::type_identity_t<T>> scale, Matrix<T> y);

// The bodies of kernels/body/attention.hpp over the rows of all heads.
template <class T>
void causal_softmax(CudaContext& context, std::int64_t heads, const CausalSoftmax<T>& body);
template <class T>
void causal_softmax_backward(CudaContext& context, std::int64_t heads, const CausalSoftmaxBackward<T>& body);

}  // namespace rehearse::kernels::cuda

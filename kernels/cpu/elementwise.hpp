// Element-wise kernels, reductions and copy probes on the CPU. T is float or Bf16; arithmetic is in fp32. Spans of one
// call have one length and do not overlap, except that an output may be an input of scale_add and sum_buffers.
#pragma once

#include "kernels/cpu/context.hpp"
#include "kernels/element.hpp"
#include "kernels/matrix.hpp"

namespace rehearse::kernels {

// to = from.
template <class T>
void copy(CpuContext& context, std::span<const std::type_identity_t<T>> from, std::span<T> to);

// out = a + factor * b: STREAM's triad.
template <class T>
void scale_add(CpuContext& context, std::span<const std::type_identity_t<T>> a,
               std::span<const std::type_identity_t<T>> b, float factor, std::span<T> out);

// out = inputs[0] + inputs[1] + ..., added in that order; at least one input.
template <class T>
void sum_buffers(CpuContext& context, std::span<const std::span<const std::type_identity_t<T>>> inputs,
                 std::span<T> out);

// y = x * scale / sqrt(mean(x^2) + 1e-6) per row; `scale` has one value per column.
template <class T>
void rms_norm(CpuContext& context, Input<T> x, std::span<const std::type_identity_t<T>> scale, Matrix<T> y);

}  // namespace rehearse::kernels

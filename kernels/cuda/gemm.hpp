// Products on a GPU: cuBLAS, accumulation in fp32 (no TF32). Matrices are device memory. T is float, Bf16 or Fp16.
#pragma once

#include <vector>

#include "kernels/cuda/context.hpp"
#include "kernels/element.hpp"
#include "kernels/experts.hpp"

namespace rehearse::kernels::cuda {

// As kernels/cpu/gemm.hpp. Out is T, or float.
template <class T, class Out>
void gemm(CudaContext& context, Matrix<const T> a, Matrix<const T> b, Matrix<Out> c,
          Transposed transposed = Transposed::none, Write write = Write::replace);

// `count` products of one shape, each operand `stride` elements behind the one before.
template <class T>
struct Strided {
    T* first;
    std::int64_t rows, cols, stride;
};
template <class T, class Out>
void gemm_strided(CudaContext& context, std::int64_t count, Strided<const T> a, Strided<const T> b, Strided<Out> c,
                  Transposed transposed = Transposed::none, Write write = Write::replace);

// `count` products of one shape, operands behind pointers that stand in device memory: C_i (m x n) = A_i (m x k) B_i.
struct Extents {
    std::int64_t m, n, k;
};
template <class T>
void gemm_batched(CudaContext& context, std::int64_t count, const Extents& extents, const T* const* a,
                  const T* const* b, T* const* c);

// How the products of all experts are done: one cublasGemmGroupedBatchedEx, or one cuBLAS call per expert on side
// streams.
enum class GroupedMethod { one_call, loop };

// c's rows of expert e = a's rows of e times W[e] (none), or times W[e]^T (right).
template <class T>
void grouped_gemm(CudaContext& context, GroupedMethod method, RowCounts rows_per_expert, Input<T> a,
                  StackedInput<T> weights, Matrix<T> c, Transposed transposed = Transposed::none);

// dW[e] = X_e^T dY_e in fp32, or += that: a call per expert on side streams (grouped calls have one type for A, B and
// C).
template <class T>
void grouped_weight_gradient(CudaContext& context, RowCounts rows_per_expert, Matrix<const T> x, Input<T> d_y,
                             Stacked<float> d_weights, Write write);

// Runs both methods on these operands and gives the one that was faster in the median of `repeats`. Blocks; `c` is
// overwritten.
template <class T>
GroupedMethod faster_method(CudaContext& context, int repeats, RowCounts rows_per_expert, Input<T> a,
                            StackedInput<T> weights, Matrix<T> c, Transposed transposed);

}  // namespace rehearse::kernels::cuda

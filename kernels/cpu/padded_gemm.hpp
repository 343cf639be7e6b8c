// Products whose rows are as many as the router sent. oneDNN compiles a bf16 product for each shape that it meets, some
// milliseconds each; with as many shapes as there are counts of rows a step would compile and hardly compute. So the
// rows of a product are padded to a multiple of `row_pad`, and those that a gradient adds up beyond whole tiles to one
// of `depth_pad`, the inner step of a matrix unit: few shapes come back again and again. fp32 products are not compiled
// by shape: they take the rows as they are.
#pragma once

#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/row_calls.hpp"

namespace rehearse::kernels {

// C = A B or A B^T for any number of rows of A.
template <class T>
void padded_gemm(CpuContext& context, Input<T> a, Input<T> b, Matrix<T> c, Transposed transposed);

// C = A^T B, or C += that, for any number of rows of A and B: they are added up.
template <class T>
void padded_gradient(CpuContext& context, Matrix<const T> a, Input<T> b, Matrix<float> c, Write write);

}  // namespace rehearse::kernels

// GEMM of the CPU back-end: oneDNN. Inputs fp32 or bf16, accumulation in fp32.
//
// Repeated calls of one shape allocate nothing of note: packing buffers are scratch of the context, oneDNN keeps its
// own cache of compiled shapes.
#pragma once

#include <string>

#include "kernels/cpu/context.hpp"
#include "kernels/element.hpp"
#include "kernels/experts.hpp"
#include "kernels/matrix.hpp"

namespace rehearse::kernels {

// C = A B, A^T B or A B^T, or C += that. Inner extents of 0 give 0. C overlaps neither input.
void gemm(CpuContext& context, Matrix<const float> a, Matrix<const float> b, Matrix<float> c,
          Transposed transposed = Transposed::none, Write write = Write::replace);
void gemm(CpuContext& context, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<float> c,
          Transposed transposed = Transposed::none, Write write = Write::replace);
void gemm(CpuContext& context, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<Bf16> c,
          Transposed transposed = Transposed::none, Write write = Write::replace);

// Of oneDNN, and the instruction set that it compiles for here.
std::string gemm_library_version();

}  // namespace rehearse::kernels

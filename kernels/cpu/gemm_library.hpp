// oneDNN's handles, for cpu/gemm.cpp and cpu/context.cpp alone.
#pragma once

#include <dnnl.hpp>

namespace rehearse::kernels {

class GemmLibrary {
public:
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    // Below AVX-512 oneDNN has no bf16 product; then operands are widened and multiplied in fp32.
    bool has_bf16 = dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core;
};

}  // namespace rehearse::kernels

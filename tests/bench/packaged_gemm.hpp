// GEMMs that a package offers as they are: what the kernels are held against, and the machine's roof of arithmetic.
#pragma once

#include <omp.h>

#include <Eigen/Core>
#include <cstdint>
#include <dnnl.hpp>
#include <functional>
#include <string>
#include <vector>

#include "kernels/element.hpp"
#ifdef REHEARSE_OPENBLAS
#include <cblas.h>
#endif

namespace rehearse::bench {

// C = A B in row-major order, on one thread: A is m x k, B is k x n.
template <class T>
struct PackagedGemm {
    std::string name;
    std::function<void(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c)> run;
};

template <class T>
void onednn_matmul(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c) {
    using dnnl::memory;
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    static dnnl::stream stream(engine);
    const auto type = std::is_same_v<T, float> ? memory::data_type::f32 : memory::data_type::bf16;
    const memory::desc a_form({m, k}, type, memory::format_tag::ab), b_form({k, n}, type, memory::format_tag::ab),
        c_form({m, n}, type, memory::format_tag::ab);
    const auto of = [&](const memory::desc& form, const T* at) { return memory(form, engine, const_cast<T*>(at)); };
    dnnl::matmul({{a_form, b_form, c_form}, engine})
        .execute(stream,
                 {{DNNL_ARG_SRC, of(a_form, a)}, {DNNL_ARG_WEIGHTS, of(b_form, b)}, {DNNL_ARG_DST, of(c_form, c)}});
    stream.wait();
}

inline std::vector<PackagedGemm<float>> packaged_gemms(float) {
    omp_set_num_threads(1);
    std::vector<PackagedGemm<float>> all;
    all.push_back({"onednn_matmul", onednn_matmul<float>});
    all.push_back({"onednn_sgemm", [](auto m, auto n, auto k, const float* a, const float* b, float* c) {
                       dnnl::sgemm('N', 'N', m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
                   }});
    all.push_back({"eigen", [](auto m, auto n, auto k, const float* a, const float* b, float* c) {
                       using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
                       Eigen::Map<Rows>(c, m, n).noalias() =
                           Eigen::Map<const Rows>(a, m, k) * Eigen::Map<const Rows>(b, k, n);
                   }});
#ifdef REHEARSE_OPENBLAS
    openblas_set_num_threads(1);
    all.push_back({"openblas", [](auto m, auto n, auto k, const float* a, const float* b, float* c) {
                       const int rows = static_cast<int>(m), cols = static_cast<int>(n), inner = static_cast<int>(k);
                       cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, cols, inner, 1.0f, a, inner, b,
                                   cols, 0.0f, c, cols);
                   }});
#endif
    return all;
}

inline std::vector<PackagedGemm<kernels::Bf16>> packaged_gemms(kernels::Bf16) {
    omp_set_num_threads(1);
    return {{"onednn_matmul", onednn_matmul<kernels::Bf16>}};
}

}  // namespace rehearse::bench

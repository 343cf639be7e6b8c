#include "kernels/cpu/gemm.hpp"

#include <omp.h>

#include <algorithm>
#include <string>

#include "kernels/cpu/gemm_library.hpp"

namespace rehearse::kernels {

namespace {

using dnnl::memory;

// oneDNN asks OpenMP how many threads the caller wants; the setting belongs to the calling thread and is put back.
class ThreadsOfCaller {
public:
    explicit ThreadsOfCaller(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
    ~ThreadsOfCaller() { omp_set_num_threads(before_); }
    ThreadsOfCaller(const ThreadsOfCaller&) = delete;

private:
    int before_;
};

struct Extents {
    std::int64_t m, n, k;
};

template <class A, class B, class C>
Extents extents_of(const Matrix<A>& a, const Matrix<B>& b, const Matrix<C>& c, Transposed transposed) {
    const bool left = transposed == Transposed::left, right = transposed == Transposed::right;
    const Extents e{left ? a.cols() : a.rows(), right ? b.rows() : b.cols(), left ? a.rows() : a.cols()};
    REHEARSE_CHECK(e.k == (right ? b.cols() : b.rows()) && e.m == c.rows() && e.n == c.cols(),
                   std::string("gemm") + (left ? " with A transposed" : right ? " with B transposed" : "") + ": A is " +
                       a.shape() + ", B is " + b.shape() + ", C is " + c.shape());
    return e;
}

// Nothing to add up: C is 0 or stays.
template <class C>
bool is_trivial(const Extents& e, Matrix<C> c, Write write) {
    if (e.m > 0 && e.n > 0 && e.k > 0) return false;
    if (write == Write::replace) std::fill(c.values().begin(), c.values().end(), C{});
    return true;
}

template <class C>
void multiply_bf16(CpuContext& context, const Extents& e, const Bf16* a, const Bf16* b, C* c, Transposed transposed,
                   Write write) {
    using type = memory::data_type;
    using tag = memory::format_tag;
    constexpr type c_type = std::is_same_v<C, float> ? type::f32 : type::bf16;
    GemmLibrary& library = context.gemm_library();
    const memory::desc a_form({e.m, e.k}, type::bf16, transposed == Transposed::left ? tag::ba : tag::ab);
    const memory::desc b_form({e.k, e.n}, type::bf16, transposed == Transposed::right ? tag::ba : tag::ab);
    const memory::desc c_form({e.m, e.n}, c_type, tag::ab);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (write == Write::accumulate) {
        dnnl::post_ops sum;
        sum.append_sum();
        attributes.set_post_ops(sum);
    }
    const dnnl::matmul::primitive_desc plan({a_form, b_form, c_form}, attributes, library.engine);
    const auto pad =
        context.scratch<std::byte>(Scratch::gemm, static_cast<std::int64_t>(plan.scratchpad_desc().get_size()));
    const auto of = [&](const memory::desc& form, const void* at) {
        return memory(form, library.engine, const_cast<void*>(at));
    };
    dnnl::matmul(plan).execute(library.stream, {{DNNL_ARG_SRC, of(a_form, a)},
                                                {DNNL_ARG_WEIGHTS, of(b_form, b)},
                                                {DNNL_ARG_DST, of(c_form, c)},
                                                {DNNL_ARG_SCRATCHPAD, of(plan.scratchpad_desc(), pad.data())}});
    library.stream.wait();
}

void multiply_fp32(const Extents& e, const float* a, const float* b, float* c, Transposed transposed, Write write) {
    const bool left = transposed == Transposed::left, right = transposed == Transposed::right;
    const dnnl::status status =
        dnnl::sgemm(left ? 'T' : 'N', right ? 'T' : 'N', e.m, e.n, e.k, 1.0f, a, left ? e.m : e.k, b, right ? e.k : e.n,
                    write == Write::accumulate ? 1.0f : 0.0f, c, e.n);
    REHEARSE_CHECK(status == dnnl::status::success, "dnnl_sgemm: status " + std::to_string(static_cast<int>(status)));
}

std::span<const float> widened(CpuContext& context, Scratch name, std::span<const Bf16> values) {
    const auto wide = context.scratch<float>(name, static_cast<std::int64_t>(values.size()));
    std::transform(values.begin(), values.end(), wide.begin(), [](Bf16 value) { return to_float(value); });
    return wide;
}

template <class C>
void gemm_bf16(CpuContext& context, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<C> c, Transposed transposed,
               Write write) {
    const Extents e = extents_of(a, b, c, transposed);
    if (is_trivial(e, c, write)) return;
    const ThreadsOfCaller threads(context.threads());
    if (context.gemm_library().has_bf16) {
        return multiply_bf16(context, e, a.data(), b.data(), c.data(), transposed, write);
    }
    const float* const left = widened(context, Scratch::gemm_left, a.values()).data();
    const float* const right = widened(context, Scratch::gemm_right, b.values()).data();
    if constexpr (std::is_same_v<C, float>) {
        multiply_fp32(e, left, right, c.data(), transposed, write);
    } else {
        const auto wide = context.scratch<float>(Scratch::gemm_result, e.m * e.n);
        std::transform(c.values().begin(), c.values().end(), wide.begin(), [](Bf16 value) { return to_float(value); });
        multiply_fp32(e, left, right, wide.data(), transposed, write);
        std::transform(wide.begin(), wide.end(), c.values().begin(),
                       [](float value) { return from_float<Bf16>(value); });
    }
}

}  // namespace

void gemm(CpuContext& context, Matrix<const float> a, Matrix<const float> b, Matrix<float> c, Transposed transposed,
          Write write) {
    const Extents e = extents_of(a, b, c, transposed);
    if (is_trivial(e, c, write)) return;
    const ThreadsOfCaller threads(context.threads());
    multiply_fp32(e, a.data(), b.data(), c.data(), transposed, write);
}

void gemm(CpuContext& context, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<float> c, Transposed transposed,
          Write write) {
    gemm_bf16(context, a, b, c, transposed, write);
}

void gemm(CpuContext& context, Matrix<const Bf16> a, Matrix<const Bf16> b, Matrix<Bf16> c, Transposed transposed,
          Write write) {
    gemm_bf16(context, a, b, c, transposed, write);
}

std::string gemm_library_version() {
    const dnnl_version_t& version = *dnnl_version();
    const char* set = "below AVX-512";
    const dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    if (isa >= dnnl_cpu_isa_avx512_core) set = "AVX-512";
    if (isa >= dnnl_cpu_isa_avx512_core_bf16) set = "AVX-512 with bf16";
    if (isa >= dnnl_cpu_isa_avx512_core_amx) set = "AMX";
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.patch) + ", " + set;
}

}  // namespace rehearse::kernels

#include "kernels/cuda/gemm.hpp"

#include <algorithm>

namespace rehearse::kernels::cuda {

namespace {

template <class T>
constexpr cudaDataType_t type_of = CUDA_R_32F;
template <>
constexpr cudaDataType_t type_of<Bf16> = CUDA_R_16BF;
template <>
constexpr cudaDataType_t type_of<Fp16> = CUDA_R_16F;

constexpr cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
constexpr cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
constexpr float one = 1.0f, zero = 0.0f;

int small(std::int64_t extent) {
    REHEARSE_CHECK(extent >= 0 && extent <= 0x7fffffff, "an extent of " + std::to_string(extent));
    return static_cast<int>(extent);
}

// cuBLAS stores columns: it computes C^T = op(B)^T op(A)^T, so B is its first operand and n its first extent.
struct ColumnForm {
    ColumnForm(const Extents& e, Transposed transposed)
        : first(transposed == Transposed::right ? CUBLAS_OP_T : CUBLAS_OP_N),
          second(transposed == Transposed::left ? CUBLAS_OP_T : CUBLAS_OP_N),
          m(small(e.n)),
          n(small(e.m)),
          k(small(e.k)),
          first_stride(transposed == Transposed::right ? k : m),
          second_stride(transposed == Transposed::left ? n : k) {}

    cublasOperation_t first, second;
    int m, n, k, first_stride, second_stride;
};

template <class A, class B, class C>
Extents extents_of(const A& a, const B& b, const C& c, Transposed transposed) {
    const auto rows = [](const auto& x) {
        if constexpr (requires { x.rows(); }) return x.rows();
        else return x.rows;
    };
    const auto cols = [](const auto& x) {
        if constexpr (requires { x.cols(); }) return x.cols();
        else return x.cols;
    };
    const bool left = transposed == Transposed::left, right = transposed == Transposed::right;
    const Extents e{left ? cols(a) : rows(a), right ? rows(b) : cols(b), left ? rows(a) : cols(a)};
    REHEARSE_CHECK(e.k == (right ? cols(b) : rows(b)) && e.m == rows(c) && e.n == cols(c), "gemm: shapes do not fit");
    return e;
}

template <class Out>
bool is_trivial(CudaContext& context, const Extents& e, Matrix<Out> c, Write write) {
    if (e.m > 0 && e.n > 0 && e.k > 0) return false;
    if (write == Write::replace && e.m > 0 && e.n > 0) {
        REHEARSE_CUDA(cudaMemsetAsync(c.data(), 0, c.values().size_bytes(), context.stream()));
    }
    return true;
}

// What one grouped call needs of each expert that has rows.
template <class T>
struct Groups {
    void add(const ColumnForm& form, const T* weight, const T* row, T* result) {
        first.push_back(form.first), second.push_back(form.second);
        m.push_back(form.m), n.push_back(form.n), k.push_back(form.k);
        first_stride.push_back(form.first_stride), second_stride.push_back(form.second_stride);
        alpha.push_back(one), beta.push_back(zero), size.push_back(1);
        pointers[0].push_back(weight), pointers[1].push_back(row), pointers[2].push_back(result);
    }
    std::vector<cublasOperation_t> first, second;
    std::vector<int> m, n, k, first_stride, second_stride, size;
    std::vector<float> alpha, beta;
    std::vector<const void*> pointers[3];
};

// Pointer arrays have to stand in device memory. Copies this small are staged before the call returns.
const void** on_device(CudaContext& context, const std::string& name, const std::vector<const void*>& pointers) {
    const void** const there = context.scratch<const void*>(name, static_cast<std::int64_t>(pointers.size()));
    REHEARSE_CUDA(cudaMemcpyAsync(there, pointers.data(), pointers.size() * sizeof(void*), cudaMemcpyHostToDevice,
                                  context.stream()));
    return there;
}

template <class T>
void call_grouped(CudaContext& context, const Groups<T>& g) {
    if (g.size.empty()) return;
    const void** const weights = on_device(context, "grouped weights", g.pointers[0]);
    const void** const rows = on_device(context, "grouped rows", g.pointers[1]);
    const void** const results = on_device(context, "grouped results", g.pointers[2]);
    REHEARSE_CUDA(cublasGemmGroupedBatchedEx(
        context.cublas(), g.first.data(), g.second.data(), g.m.data(), g.n.data(), g.k.data(), g.alpha.data(), weights,
        type_of<T>, g.first_stride.data(), rows, type_of<T>, g.second_stride.data(), g.beta.data(),
        const_cast<void* const*>(results), type_of<T>, g.m.data(), small(static_cast<std::int64_t>(g.size.size())),
        g.size.data(), compute));
}

}  // namespace

template <class T, class Out>
void gemm(CudaContext& context, Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, Transposed transposed,
          Write write) {
    const Extents e = extents_of(a, b, c, transposed);
    if (is_trivial(context, e, c, write)) return;
    const ColumnForm f(e, transposed);
    REHEARSE_CUDA(cublasGemmEx(context.cublas(), f.first, f.second, f.m, f.n, f.k, &one, b.data(), type_of<T>,
                               f.first_stride, a.data(), type_of<T>, f.second_stride,
                               write == Write::accumulate ? &one : &zero, c.data(), type_of<Out>, f.m, compute,
                               algorithm));
}

template <class T, class Out>
void gemm_strided(CudaContext& context, std::int64_t count, Strided<const T> a, Strided<const T> b, Strided<Out> c,
                  Transposed transposed, Write write) {
    const Extents e = extents_of(a, b, c, transposed);
    if (count == 0 || e.m == 0 || e.n == 0) return;
    REHEARSE_CHECK(e.k > 0, "a product over nothing");
    const ColumnForm f(e, transposed);
    REHEARSE_CUDA(cublasGemmStridedBatchedEx(
        context.cublas(), f.first, f.second, f.m, f.n, f.k, &one, b.first, type_of<T>, f.first_stride, b.stride,
        a.first, type_of<T>, f.second_stride, a.stride, write == Write::accumulate ? &one : &zero, c.first,
        type_of<Out>, f.m, c.stride, small(count), compute, algorithm));
}

template <class T>
void gemm_batched(CudaContext& context, std::int64_t count, const Extents& extents, const T* const* a,
                  const T* const* b, T* const* c) {
    if (count == 0) return;
    const ColumnForm f(extents, Transposed::none);
    const auto pointers = [](const auto* at) { return reinterpret_cast<const void* const*>(at); };
    REHEARSE_CUDA(cublasGemmBatchedEx(context.cublas(), f.first, f.second, f.m, f.n, f.k, &one, pointers(b),
                                      type_of<T>, f.first_stride, pointers(a), type_of<T>, f.second_stride, &zero,
                                      reinterpret_cast<void* const*>(c), type_of<T>, f.m, small(count), compute,
                                      algorithm));
}

template <class T>
void grouped_gemm(CudaContext& context, GroupedMethod method, RowCounts rows_per_expert, Input<T> a,
                  StackedInput<T> weights, Matrix<T> c, Transposed transposed) {
    REHEARSE_CHECK(transposed != Transposed::left, "the rows of a grouped gemm are A's as they are");
    check_rows(rows_per_expert, a.rows(), weights.experts);
    check_rows(rows_per_expert, c.rows(), weights.experts);
    std::vector<std::int64_t> first(rows_per_expert.size());
    std::exclusive_scan(rows_per_expert.begin(), rows_per_expert.end(), first.begin(), std::int64_t{0});
    Groups<T> groups;
    const auto of_expert = [&](std::int64_t expert, const auto& use) {
        const auto at = static_cast<std::size_t>(expert);
        if (rows_per_expert[at] == 0) return;
        use(a.slice(first[at], rows_per_expert[at]), weights.of(expert), c.slice(first[at], rows_per_expert[at]));
    };
    if (method == GroupedMethod::loop) {
        return context.fork(weights.experts, [&](std::int64_t expert) {
            of_expert(expert, [&](auto rows, auto weight, auto result) {
                gemm<T, T>(context, rows, weight, result, transposed);
            });
        });
    }
    for (std::int64_t expert = 0; expert < weights.experts; ++expert) {
        of_expert(expert, [&](auto rows, auto weight, auto result) {
            groups.add(ColumnForm(extents_of(rows, weight, result, transposed), transposed), weight.data(),
                       rows.data(), result.data());
        });
    }
    call_grouped(context, groups);
}

template <class T>
void grouped_weight_gradient(CudaContext& context, RowCounts rows_per_expert, Matrix<const T> x, Input<T> d_y,
                             Stacked<float> d_weights, Write write) {
    check_rows(rows_per_expert, x.rows(), d_weights.experts);
    check_rows(rows_per_expert, d_y.rows(), d_weights.experts);
    std::int64_t first = 0;
    context.fork(d_weights.experts, [&](std::int64_t expert) {
        const std::int64_t rows = rows_per_expert[static_cast<std::size_t>(expert)];
        gemm<T, float>(context, x.slice(first, rows), d_y.slice(first, rows), d_weights.of(expert), Transposed::left,
                       write);
        first += rows;
    });
}

template <class T>
GroupedMethod faster_method(CudaContext& context, int repeats, RowCounts rows_per_expert, Input<T> a,
                            StackedInput<T> weights, Matrix<T> c, Transposed transposed) {
    REHEARSE_CHECK(repeats >= 1, "a median needs a measurement");
    const auto median = [&](GroupedMethod method) {
        std::vector<double> seconds;
        for (int i = 0; i <= repeats; ++i) {
            DeviceEvent before, after;
            before.record(context.stream());
            grouped_gemm<T>(context, method, rows_per_expert, a, weights, c, transposed);
            after.record(context.stream());
            if (i > 0) seconds.push_back(after.seconds_since(before));  // the first one warms up
            else after.seconds_since(before);
        }
        std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
        return seconds[static_cast<std::size_t>(repeats / 2)];
    };
    return median(GroupedMethod::one_call) < median(GroupedMethod::loop) ? GroupedMethod::one_call
                                                                         : GroupedMethod::loop;
}

#define REHEARSE_INSTANTIATE_TO(T, Out)                                                                               \
    template void gemm(CudaContext&, Matrix<const T>, Matrix<const T>, Matrix<Out>, Transposed, Write);               \
    template void gemm_strided(CudaContext&, std::int64_t, Strided<const T>, Strided<const T>, Strided<Out>,          \
                               Transposed, Write)
#define REHEARSE_INSTANTIATE(T)                                                                                       \
    template void gemm_batched(CudaContext&, std::int64_t, const Extents&, const T* const*, const T* const*,          \
                               T* const*);                                                                            \
    template void grouped_gemm(CudaContext&, GroupedMethod, RowCounts, Input<T>, StackedInput<T>, Matrix<T>,          \
                               Transposed);                                                                           \
    template void grouped_weight_gradient(CudaContext&, RowCounts, Matrix<const T>, Input<T>, Stacked<float>, Write); \
    template GroupedMethod faster_method(CudaContext&, int, RowCounts, Input<T>, StackedInput<T>, Matrix<T>,          \
                                         Transposed)

REHEARSE_INSTANTIATE_TO(float, float);
REHEARSE_INSTANTIATE_TO(Bf16, Bf16);
REHEARSE_INSTANTIATE_TO(Bf16, float);
REHEARSE_INSTANTIATE_TO(Fp16, Fp16);
REHEARSE_INSTANTIATE_TO(Fp16, float);
REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);
REHEARSE_INSTANTIATE(Fp16);

}  // namespace rehearse::kernels::cuda

#include "kernels/cuda/attention.hpp"

#include <cmath>

#include "kernels/cuda/kernels.hpp"

namespace rehearse::kernels::cuda {

namespace {

template <class T>
void check_size(const AttentionShape& shape, std::span<T> values) {
    REHEARSE_CHECK(static_cast<std::int64_t>(values.size()) == shape.elements(),
                   std::to_string(values.size()) + " elements for " + std::to_string(shape.elements()));
}

// `rows` positions from `first` of every head.
template <class T>
Strided<T> positions(const AttentionShape& shape, std::span<T> values, std::int64_t first, std::int64_t rows) {
    check_size(shape, values);
    return {values.data() + first * shape.head_dim, rows, shape.head_dim, shape.sequence * shape.head_dim};
}

// rows x keys of every head.
template <class T>
Strided<T> square(CudaContext& context, const char* name, const AttentionShape& shape, const AttentionTile& tile) {
    return {context.scratch<T>(name, shape.heads * tile.rows * tile.keys()), tile.rows, tile.keys(),
            tile.rows * tile.keys()};
}

template <class T>
Strided<const T> read_only(const Strided<T>& s) {
    return {s.first, s.rows, s.cols, s.stride};
}

float scale_of(const AttentionShape& shape) { return 1.0f / std::sqrt(static_cast<float>(shape.head_dim)); }

}  // namespace

template <class T>
void attention(CudaContext& context, const AttentionShape& shape, const AttentionInput<T>& in, std::span<T> out,
               std::span<float> log_sum) {
    REHEARSE_CHECK(static_cast<std::int64_t>(log_sum.size()) == shape.heads * shape.sequence, "one log-sum per row");
    for_each_query_tile(shape, [&](std::int64_t first, std::int64_t rows) {
        const AttentionTile tile{first, rows, shape.sequence};
        const auto scores = square<float>(context, "attention scores", shape, tile);
        const auto p = square<T>(context, "attention probabilities", shape, tile);
        gemm_strided<T, float>(context, shape.heads, positions(shape, in.q, first, rows),
                               positions(shape, in.k, 0, tile.keys()), scores, Transposed::right);
        causal_softmax(context, shape.heads,
                       CausalSoftmax<T>{scores.first, p.first, log_sum.data(), tile, scale_of(shape)});
        gemm_strided<T, T>(context, shape.heads, read_only(p), positions(shape, in.v, 0, tile.keys()),
                           positions(shape, out, first, rows));
    });
}

template <class T>
void attention_backward(CudaContext& context, const AttentionShape& shape, const AttentionInput<T>& in,
                        std::span<const std::type_identity_t<T>> out, std::span<const std::type_identity_t<T>> d_out,
                        std::span<const float> log_sum, AttentionGradients gradients) {
    check_size(shape, out);
    check_size(shape, d_out);
    REHEARSE_CHECK(static_cast<std::int64_t>(log_sum.size()) == shape.heads * shape.sequence, "one log-sum per row");
    REHEARSE_CUDA(cudaMemsetAsync(gradients.k.data(), 0, gradients.k.size_bytes(), context.stream()));
    REHEARSE_CUDA(cudaMemsetAsync(gradients.v.data(), 0, gradients.v.size_bytes(), context.stream()));
    const std::int64_t heads = shape.heads;
    for_each_query_tile(shape, [&](std::int64_t first, std::int64_t rows) {
        const AttentionTile tile{first, rows, shape.sequence};
        const auto scores = square<float>(context, "attention scores", shape, tile);
        const auto d_p = square<float>(context, "attention d_probabilities", shape, tile);
        const auto p = square<T>(context, "attention probabilities", shape, tile);
        const auto d_s = square<T>(context, "attention d_scores", shape, tile);
        const auto q = positions(shape, in.q, first, rows), d_o = positions(shape, d_out, first, rows);
        const auto k = positions(shape, in.k, 0, tile.keys()), v = positions(shape, in.v, 0, tile.keys());
        gemm_strided<T, float>(context, heads, q, k, scores, Transposed::right);
        gemm_strided<T, float>(context, heads, d_o, v, d_p, Transposed::right);
        causal_softmax_backward(context, heads,
                                CausalSoftmaxBackward<T>{scores.first, d_p.first, log_sum.data(), out.data(),
                                                         d_out.data(), p.first, d_s.first, tile, shape.head_dim,
                                                         scale_of(shape)});
        gemm_strided<T, float>(context, heads, read_only(p), d_o, positions(shape, gradients.v, 0, tile.keys()),
                               Transposed::left, Write::accumulate);
        gemm_strided<T, float>(context, heads, read_only(d_s), k, positions(shape, gradients.q, first, rows));
        gemm_strided<T, float>(context, heads, read_only(d_s), q, positions(shape, gradients.k, 0, tile.keys()),
                               Transposed::left, Write::accumulate);
    });
}

#define REHEARSE_INSTANTIATE(T)                                                                                     \
    template void attention(CudaContext&, const AttentionShape&, const AttentionInput<T>&, std::span<T>,            \
                            std::span<float>);                                                                      \
    template void attention_backward<T>(CudaContext&, const AttentionShape&, const AttentionInput<T>&,              \
                                        std::span<const T>, std::span<const T>, std::span<const float>,             \
                                        AttentionGradients)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);
REHEARSE_INSTANTIATE(Fp16);

}  // namespace rehearse::kernels::cuda

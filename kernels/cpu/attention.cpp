#include "kernels/cpu/attention.hpp"

#include "kernels/body/attention.hpp"
#include "kernels/cpu/launch.hpp"

namespace rehearse::kernels {

namespace {

void check_shape(const AttentionShape& shape) {
    REHEARSE_CHECK(shape.heads >= 0 && shape.sequence >= 0 && shape.head_dim >= 1,
                   "attention of " + std::to_string(shape.heads) + " heads, sequence " +
                       std::to_string(shape.sequence) + ", head dimension " + std::to_string(shape.head_dim));
}

template <class T>
Matrix<T> head(const AttentionShape& shape, std::span<T> values, std::int64_t index) {
    return Matrix<T>(values, shape.heads * shape.sequence, shape.head_dim)
        .slice(index * shape.sequence, shape.sequence);
}

float scale_of(const AttentionShape& shape) { return 1.0f / std::sqrt(static_cast<float>(shape.head_dim)); }

template <class T>
Matrix<T> square(CpuContext& context, Scratch name, const AttentionTile& tile) {
    return {context.scratch<T>(name, tile.rows * tile.keys()), tile.rows, tile.keys()};
}

}  // namespace

template <class T>
void attention(CpuContext& context, const AttentionShape& shape, const AttentionInput<T>& in, std::span<T> out,
               std::span<float> log_sum) {
    check_shape(shape);
    const Matrix<float> log_sums(log_sum, shape.heads, shape.sequence);
    for (std::int64_t h = 0; h < shape.heads; ++h) {
        const Matrix<const T> q = head(shape, in.q, h), k = head(shape, in.k, h), v = head(shape, in.v, h);
        const Matrix<T> o = head(shape, out, h);
        float* const log_sum_of_head = log_sums.slice(h, 1).data();
        for_each_query_tile(shape, [&](std::int64_t first, std::int64_t rows) {
            const AttentionTile tile{first, rows, shape.sequence};
            const auto scores = square<float>(context, Scratch::scores, tile);
            const auto p = square<T>(context, Scratch::probabilities, tile);
            gemm(context, q.slice(first, rows), k.slice(0, tile.keys()), scores, Transposed::right);
            run_blocks(context, rows,
                       CausalSoftmax<T>{scores.data(), p.data(), log_sum_of_head, tile, scale_of(shape)});
            gemm(context, p, v.slice(0, tile.keys()), o.slice(first, rows));
        });
    }
}

template <class T>
void attention_backward(CpuContext& context, const AttentionShape& shape, const AttentionInput<T>& in,
                        std::span<const std::type_identity_t<T>> out, std::span<const std::type_identity_t<T>> d_out,
                        std::span<const float> log_sum, AttentionGradients gradients) {
    check_shape(shape);
    const Matrix<const float> log_sums(log_sum, shape.heads, shape.sequence);
    std::fill(gradients.k.begin(), gradients.k.end(), 0.0f);
    std::fill(gradients.v.begin(), gradients.v.end(), 0.0f);
    for (std::int64_t h = 0; h < shape.heads; ++h) {
        const Matrix<const T> q = head(shape, in.q, h), k = head(shape, in.k, h), v = head(shape, in.v, h);
        const Matrix<const T> o = head(shape, out, h), d_o = head(shape, d_out, h);
        const Matrix<float> d_q = head(shape, gradients.q, h), d_k = head(shape, gradients.k, h),
                            d_v = head(shape, gradients.v, h);
        for_each_query_tile(shape, [&](std::int64_t first, std::int64_t rows) {
            const AttentionTile tile{first, rows, shape.sequence};
            const auto scores = square<float>(context, Scratch::scores, tile);
            const auto d_p = square<float>(context, Scratch::d_probabilities, tile);
            const auto p = square<T>(context, Scratch::probabilities, tile);
            const auto d_s = square<T>(context, Scratch::d_scores, tile);
            gemm(context, q.slice(first, rows), k.slice(0, tile.keys()), scores, Transposed::right);
            gemm(context, d_o.slice(first, rows), v.slice(0, tile.keys()), d_p, Transposed::right);
            run_blocks(context, rows,
                       CausalSoftmaxBackward<T>{scores.data(), d_p.data(), log_sums.slice(h, 1).data(), o.data(),
                                                d_o.data(), p.data(), d_s.data(), tile, shape.head_dim,
                                                scale_of(shape)});
            gemm(context, p, d_o.slice(first, rows), d_v.slice(0, tile.keys()), Transposed::left, Write::accumulate);
            gemm(context, d_s, k.slice(0, tile.keys()), d_q.slice(first, rows));
            gemm(context, d_s, q.slice(first, rows), d_k.slice(0, tile.keys()), Transposed::left, Write::accumulate);
        });
    }
}

#define REHEARSE_INSTANTIATE(T)                                                                                     \
    template void attention(CpuContext&, const AttentionShape&, const AttentionInput<T>&, std::span<T>,             \
                            std::span<float>);                                                                      \
    template void attention_backward<T>(CpuContext&, const AttentionShape&, const AttentionInput<T>&,               \
                                        std::span<const T>, std::span<const T>, std::span<const float>,             \
                                        AttentionGradients)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);

}  // namespace rehearse::kernels

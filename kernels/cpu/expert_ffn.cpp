#include "kernels/cpu/expert_ffn.hpp"

#include "kernels/body/swiglu.hpp"
#include "kernels/cpu/launch.hpp"
#include "kernels/cpu/padded_gemm.hpp"
#include "kernels/cpu/row_tiles.hpp"

namespace rehearse::kernels {

template <class T>
void grouped_gemm(CpuContext& context, RowCounts rows_per_expert, Input<T> a, StackedInput<T> weights, Matrix<T> c,
                  Transposed transposed) {
    REHEARSE_CHECK(transposed != Transposed::left, "the rows of a grouped gemm are A's as they are");
    check_rows(rows_per_expert, a.rows(), weights.experts);
    check_rows(rows_per_expert, c.rows(), weights.experts);
    for_each_tile(rows_per_expert, [&](const RowTile& tile) {
        padded_gemm<T>(context, a.slice(tile.first_row, tile.rows), weights.of(tile.expert),
                       c.slice(tile.first_row, tile.rows), transposed);
    });
}

template <class T>
void grouped_weight_gradient(CpuContext& context, RowCounts rows_per_expert, Matrix<const T> x, Input<T> d_y,
                             Stacked<float> d_weights, Write write) {
    check_rows(rows_per_expert, x.rows(), d_weights.experts);
    check_rows(rows_per_expert, d_y.rows(), d_weights.experts);
    std::int64_t first = 0;
    for (std::int64_t expert = 0; expert < d_weights.experts; ++expert) {
        const std::int64_t rows = rows_per_expert[static_cast<std::size_t>(expert)];
        padded_gradient<T>(context, x.slice(first, rows), d_y.slice(first, rows), d_weights.of(expert), write);
        first += rows;
    }
}

template <class T>
void swiglu(CpuContext& context, Input<T> up, Matrix<T> activated) {
    REHEARSE_CHECK(up.rows() == activated.rows() && up.cols() == 2 * activated.cols(),
                   "swiglu: " + up.shape() + " becomes " + activated.shape());
    run_blocks(context, up.rows(), Swiglu<T>{up.data(), activated.data(), activated.cols()});
}

template <class T>
void swiglu_backward(CpuContext& context, Input<T> d_activated, Input<T> up, Matrix<T> d_up) {
    check_same_shape(up, d_up, "swiglu_backward");
    REHEARSE_CHECK(up.rows() == d_activated.rows() && up.cols() == 2 * d_activated.cols(),
                   "swiglu_backward: " + d_activated.shape() + " becomes " + d_up.shape());
    run_blocks(context, up.rows(), SwigluBackward<T>{d_activated.data(), up.data(), d_up.data(), d_activated.cols()});
}

template <class T>
void expert_ffn_tile(CpuContext& context, const RowTile& tile, Input<T> x, const ExpertWeights<T>& weights,
                     ExpertActivations<T> kept, Matrix<T> y) {
    const Matrix<T> up = kept.up.slice(tile.first_row, tile.rows);
    const Matrix<T> activated = kept.activated.slice(tile.first_row, tile.rows);
    padded_gemm<T>(context, x.slice(tile.first_row, tile.rows), weights.up.of(tile.expert), up, Transposed::none);
    swiglu(context, Input<T>(up), activated);
    padded_gemm<T>(context, activated, weights.down.of(tile.expert), y.slice(tile.first_row, tile.rows),
                   Transposed::none);
}

template <class T>
void expert_ffn(CpuContext& context, RowCounts rows_per_expert, Input<T> x, const ExpertWeights<T>& weights,
                ExpertActivations<T> kept, Matrix<T> y) {
    check_rows(rows_per_expert, x.rows(), weights.up.experts);
    check_rows(rows_per_expert, y.rows(), weights.down.experts);
    for_each_tile(rows_per_expert,
                  [&](const RowTile& tile) { expert_ffn_tile<T>(context, tile, x, weights, kept, y); });
}

template <class T>
void expert_ffn_backward(CpuContext& context, RowCounts rows_per_expert, Input<T> d_y, Input<T> x,
                         const ExpertWeights<T>& weights, const ExpertActivations<T>& kept, ExpertGradients<T> out,
                         Write write) {
    grouped_gemm<T>(context, rows_per_expert, d_y, weights.down, out.activated, Transposed::right);
    grouped_weight_gradient<T>(context, rows_per_expert, kept.activated, d_y, out.w_down, write);
    swiglu_backward<T>(context, out.activated, kept.up, out.up);
    grouped_gemm<T>(context, rows_per_expert, out.up, weights.up, out.x, Transposed::right);
    grouped_weight_gradient<T>(context, rows_per_expert, x, out.up, out.w_up, write);
}

#define REHEARSE_INSTANTIATE(T)                                                                                       \
    template void grouped_gemm(CpuContext&, RowCounts, Input<T>, StackedInput<T>, Matrix<T>, Transposed);             \
    template void grouped_weight_gradient(CpuContext&, RowCounts, Matrix<const T>, Input<T>, Stacked<float>, Write);  \
    template void swiglu(CpuContext&, Input<T>, Matrix<T>);                                                           \
    template void swiglu_backward(CpuContext&, Input<T>, Input<T>, Matrix<T>);                                        \
    template void expert_ffn_tile(CpuContext&, const RowTile&, Input<T>, const ExpertWeights<T>&,                     \
                                  ExpertActivations<T>, Matrix<T>);                                                   \
    template void expert_ffn(CpuContext&, RowCounts, Input<T>, const ExpertWeights<T>&, ExpertActivations<T>,         \
                             Matrix<T>);                                                                              \
    template void expert_ffn_backward(CpuContext&, RowCounts, Input<T>, Input<T>, const ExpertWeights<T>&,            \
                                      const ExpertActivations<T>&, ExpertGradients<T>, Write)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);

}  // namespace rehearse::kernels

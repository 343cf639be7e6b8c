#include "kernels/cpu/padded_gemm.hpp"

#include <algorithm>

namespace rehearse::kernels {

namespace {

// The rows, and zeros behind them up to `rows`.
template <class T>
Matrix<T> copy_padded(CpuContext& context, Scratch name, Matrix<const T> from, std::int64_t rows) {
    const std::span<T> room = context.scratch<T>(name, rows * from.cols());
    const auto end = std::copy(from.values().begin(), from.values().end(), room.begin());
    std::fill(end, room.end(), T{});
    return {room, rows, from.cols()};
}

}  // namespace

template <class T>
void padded_gemm(CpuContext& context, Input<T> a, Input<T> b, Matrix<T> c, Transposed transposed) {
    const std::int64_t rows = padded(a.rows(), row_pad);
    if (std::is_same_v<T, float> || rows == a.rows()) return gemm(context, a, b, c, transposed);
    const Matrix<T> left = copy_padded<T>(context, Scratch::padded_left, a, rows);
    const Matrix<T> result(context.scratch<T>(Scratch::padded_result, rows * c.cols()), rows, c.cols());
    gemm(context, left, b, result, transposed);
    std::copy_n(result.values().begin(), c.values().size(), c.values().begin());
}

template <class T>
void padded_gradient(CpuContext& context, Matrix<const T> a, Input<T> b, Matrix<float> c, Write write) {
    const std::int64_t whole = a.rows() / tile_rows * tile_rows, left = a.rows() - whole;
    if (std::is_same_v<T, float> || left % depth_pad == 0)
        return gemm(context, a, b, c, Transposed::left, write);
    if (whole > 0) gemm(context, a.slice(0, whole), b.slice(0, whole), c, Transposed::left, write);
    const Matrix<T> tail_a =
        copy_padded<T>(context, Scratch::padded_left, a.slice(whole, left), padded(left, depth_pad));
    const Matrix<T> tail_b =
        copy_padded<T>(context, Scratch::padded_right, b.slice(whole, left), padded(left, depth_pad));
    gemm(context, tail_a, tail_b, c, Transposed::left, whole > 0 ? Write::accumulate : write);
}

#define REHEARSE_INSTANTIATE(T)                                                                    \
    template void padded_gemm(CpuContext&, Input<T>, Input<T>, Matrix<T>, Transposed);             \
    template void padded_gradient(CpuContext&, Matrix<const T>, Input<T>, Matrix<float>, Write)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);

}  // namespace rehearse::kernels

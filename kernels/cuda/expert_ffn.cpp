#include "kernels/cuda/expert_ffn.hpp"

#include "kernels/cuda/kernels.hpp"

namespace rehearse::kernels::cuda {

template <class T>
void expert_ffn(CudaContext& context, const ExpertMethods& methods, RowCounts rows_per_expert, Input<T> x,
                const ExpertWeights<T>& weights, ExpertActivations<T> kept, Matrix<T> y) {
    grouped_gemm<T>(context, methods.up, rows_per_expert, x, weights.up, kept.up);
    swiglu<T>(context, kept.up, kept.activated);
    grouped_gemm<T>(context, methods.down, rows_per_expert, kept.activated, weights.down, y);
}

template <class T>
void expert_ffn_backward(CudaContext& context, const ExpertMethods& methods, RowCounts rows_per_expert, Input<T> d_y,
                         Input<T> x, const ExpertWeights<T>& weights, const ExpertActivations<T>& kept,
                         ExpertGradients<T> out, Write write) {
    grouped_gemm<T>(context, methods.down_gradient, rows_per_expert, d_y, weights.down, out.activated,
                    Transposed::right);
    grouped_weight_gradient<T>(context, rows_per_expert, kept.activated, d_y, out.w_down, write);
    swiglu_backward<T>(context, out.activated, kept.up, out.up);
    grouped_gemm<T>(context, methods.up_gradient, rows_per_expert, out.up, weights.up, out.x, Transposed::right);
    grouped_weight_gradient<T>(context, rows_per_expert, x, out.up, out.w_up, write);
}

template <class T>
ExpertMethods faster_methods(CudaContext& context, int repeats, RowCounts rows_per_expert, Input<T> x,
                             const ExpertWeights<T>& weights, ExpertActivations<T> kept, Matrix<T> y,
                             ExpertGradients<T> out) {
    const auto faster = [&](Input<T> a, const Stacked<const T>& w, Matrix<T> c, Transposed transposed) {
        return faster_method<T>(context, repeats, rows_per_expert, a, w, c, transposed);
    };
    return {faster(x, weights.up, kept.up, Transposed::none), faster(kept.activated, weights.down, y, Transposed::none),
            faster(y, weights.down, out.activated, Transposed::right),
            faster(out.up, weights.up, out.x, Transposed::right)};
}

#define REHEARSE_INSTANTIATE(T)                                                                                      \
    template void expert_ffn(CudaContext&, const ExpertMethods&, RowCounts, Input<T>, const ExpertWeights<T>&,       \
                             ExpertActivations<T>, Matrix<T>);                                                       \
    template void expert_ffn_backward(CudaContext&, const ExpertMethods&, RowCounts, Input<T>, Input<T>,             \
                                      const ExpertWeights<T>&, const ExpertActivations<T>&, ExpertGradients<T>,      \
                                      Write);                                                                        \
    template ExpertMethods faster_methods(CudaContext&, int, RowCounts, Input<T>, const ExpertWeights<T>&,           \
                                          ExpertActivations<T>, Matrix<T>, ExpertGradients<T>)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);
REHEARSE_INSTANTIATE(Fp16);

}  // namespace rehearse::kernels::cuda

#include "kernels/cuda/kernels.hpp"

#include "kernels/body/elementwise.hpp"
#include "kernels/body/gate.hpp"
#include "kernels/body/permute.hpp"
#include "kernels/body/rms_norm.hpp"
#include "kernels/body/route.hpp"
#include "kernels/body/swiglu.hpp"
#include "kernels/cuda/launch.cuh"

namespace rehearse::kernels::cuda {

namespace {

std::int64_t stretches(std::int64_t n) { return (n + stretch - 1) / stretch; }

constexpr int stretch_threads = 256;

// Threads for a row: one per 16 bytes, whole warps, at most 256.
int row_threads(std::int64_t bytes) {
    const std::int64_t warps = (bytes / 16 + warp_threads - 1) / warp_threads;
    return static_cast<int>(warps < 1 ? 1 : warps > 8 ? 8 : warps) * warp_threads;
}

void check_length(std::size_t length, std::size_t expected) {
    REHEARSE_CHECK(length == expected, "a span of " + std::to_string(length) + " elements beside one of " +
                                           std::to_string(expected));
}

void check_choice(const Choice& choice, std::int64_t tokens, std::int64_t experts) {
    check_same_shape(choice.experts, choice.weights, "chosen experts and their weights");
    REHEARSE_CHECK(choice.experts.rows() == tokens && choice.experts.cols() >= 1 && choice.experts.cols() <= experts,
                   "chosen experts are " + choice.experts.shape() + " for " + std::to_string(tokens) + " tokens of " +
                       std::to_string(experts) + " experts");
}

template <class A, class B>
void check_moved(const Route& route, const Matrix<A>& tokens, const Matrix<B>& rows) {
    REHEARSE_CHECK(tokens.rows() == route.tokens() && rows.rows() == route.rows() && tokens.cols() == rows.cols(),
                   "tokens are " + tokens.shape() + " and rows " + rows.shape() + "; the route's slots are " +
                       route.row_of_slot.shape());
}

}  // namespace

void select_experts(CudaContext& context, Matrix<const float> logits, std::span<const float> bias, Choice choice) {
    check_choice(choice, logits.rows(), logits.cols());
    REHEARSE_CHECK(bias.empty() || static_cast<std::int64_t>(bias.size()) == logits.cols(), "one bias per expert");
    launch_warps(context.stream(), logits.rows(),
                 SelectExperts{logits.data(), bias.empty() ? nullptr : bias.data(), choice.experts.data(),
                               choice.weights.data(), logits.cols(), static_cast<int>(choice.experts.cols())});
}

void select_experts_backward(CudaContext& context, Choice choice, Matrix<const float> d_weights,
                             Matrix<float> d_logits) {
    check_choice(choice, d_logits.rows(), d_logits.cols());
    check_same_shape(choice.weights, d_weights, "weights and their gradient");
    launch_warps(context.stream(), d_logits.rows(),
                 SelectExpertsBackward{choice.experts.data(), choice.weights.data(), d_weights.data(), d_logits.data(),
                                       d_logits.cols(), static_cast<int>(d_weights.cols())});
}

void plan_route(CudaContext& context, Matrix<const std::int32_t> chosen, const Route& route) {
    check_same_shape(chosen, route.row_of_slot, "chosen experts and their rows");
    check_length(route.slot_of_row.size(), static_cast<std::size_t>(route.rows()));
    const std::int64_t slots = route.rows(), chunks = (slots + route_chunk - 1) / route_chunk;
    const auto experts = static_cast<std::int64_t>(route.rows_per_expert.size());
    REHEARSE_CHECK(experts >= 1, "a route needs experts");
    std::int32_t* const counts = context.scratch<std::int32_t>("route", chunks * experts);
    const int threads = static_cast<int>(route_chunk);
    launch_blocks(context.stream(), chunks, threads, RouteCount{chosen.data(), counts, slots, experts});
    launch_blocks(context.stream(), 1, 256, RouteScan{counts, route.rows_per_expert.data(), chunks, experts});
    launch_blocks(context.stream(), chunks, threads, RoutePlace{chosen.data(), counts, route.row_of_slot.data(),
                                                                route.slot_of_row.data(), slots, experts});
}

template <class T>
void permute(CudaContext& context, Input<T> tokens, const Route& route, Matrix<T> rows) {
    check_moved(route, tokens, rows);
    launch_blocks(context.stream(), rows.rows(), row_threads(rows.cols() * static_cast<std::int64_t>(sizeof(T))),
                  Permute<T>{tokens.data(), route.slot_of_row.data(), rows.data(), rows.cols(), route.top_k()});
}

template <class T>
void permute_backward(CudaContext& context, Input<T> d_rows, const Route& route, Matrix<T> d_tokens) {
    check_moved(route, d_tokens, d_rows);
    launch_blocks(context.stream(), d_tokens.rows(), row_threads(d_rows.cols() * static_cast<std::int64_t>(sizeof(T))),
                  Combine<T>{d_rows.data(), route.row_of_slot.data(), nullptr, d_tokens.data(), d_rows.cols(),
                             route.top_k()});
}

template <class T>
void combine(CudaContext& context, Input<T> rows, const Route& route, Matrix<const float> weights, Matrix<T> tokens) {
    check_moved(route, tokens, rows);
    check_same_shape(weights, route.row_of_slot, "weights and rows of the slots");
    launch_blocks(context.stream(), tokens.rows(), row_threads(rows.cols() * static_cast<std::int64_t>(sizeof(T))),
                  Combine<T>{rows.data(), route.row_of_slot.data(), weights.data(), tokens.data(), rows.cols(),
                             route.top_k()});
}

template <class T>
void combine_backward(CudaContext& context, Input<T> d_tokens, Input<T> rows, const Route& route,
                      Matrix<const float> weights, Matrix<T> d_rows, Matrix<float> d_weights) {
    check_moved(route, d_tokens, rows);
    check_same_shape(rows, d_rows, "rows and their gradient");
    check_same_shape(weights, route.row_of_slot, "weights and rows of the slots");
    check_same_shape(weights, d_weights, "weights and their gradient");
    launch_blocks(context.stream(), route.rows(), row_threads(rows.cols() * static_cast<std::int64_t>(sizeof(T))),
                  CombineBackward<T>{d_tokens.data(), rows.data(), route.row_of_slot.data(), weights.data(),
                                     d_rows.data(), d_weights.data(), rows.cols(), route.top_k()});
}

template <class T>
void swiglu(CudaContext& context, Input<T> up, Matrix<T> activated) {
    REHEARSE_CHECK(up.rows() == activated.rows() && up.cols() == 2 * activated.cols(),
                   "swiglu: " + up.shape() + " becomes " + activated.shape());
    launch_blocks(context.stream(), up.rows(), row_threads(activated.cols() * static_cast<std::int64_t>(sizeof(T))),
                  Swiglu<T>{up.data(), activated.data(), activated.cols()});
}

template <class T>
void swiglu_backward(CudaContext& context, Input<T> d_activated, Input<T> up, Matrix<T> d_up) {
    check_same_shape(up, d_up, "swiglu_backward");
    REHEARSE_CHECK(up.rows() == d_activated.rows() && up.cols() == 2 * d_activated.cols(),
                   "swiglu_backward: " + d_activated.shape() + " becomes " + d_up.shape());
    launch_blocks(context.stream(), up.rows(), row_threads(d_activated.cols() * static_cast<std::int64_t>(sizeof(T))),
                  SwigluBackward<T>{d_activated.data(), up.data(), d_up.data(), d_activated.cols()});
}

template <class T>
void copy(CudaContext& context, std::span<const std::type_identity_t<T>> from, std::span<T> to) {
    check_length(from.size(), to.size());
    const auto n = static_cast<std::int64_t>(to.size());
    launch_blocks(context.stream(), stretches(n), stretch_threads, Copy<T>{from.data(), to.data(), n});
}

template <class T>
void scale_add(CudaContext& context, std::span<const std::type_identity_t<T>> a,
               std::span<const std::type_identity_t<T>> b, float factor, std::span<T> out) {
    check_length(a.size(), out.size());
    check_length(b.size(), out.size());
    const auto n = static_cast<std::int64_t>(out.size());
    launch_blocks(context.stream(), stretches(n), stretch_threads,
                  ScaleAdd<T>{a.data(), b.data(), out.data(), n, factor});
}

template <class T>
void sum_buffers(CudaContext& context, std::span<const T* const> inputs, std::span<T> out) {
    REHEARSE_CHECK(!inputs.empty(), "a sum of no buffers");
    const auto n = static_cast<std::int64_t>(out.size());
    launch_blocks(context.stream(), stretches(n), stretch_threads,
                  SumBuffers<T>{inputs.data(), out.data(), n, static_cast<int>(inputs.size())});
}

template <class T>
void rms_norm(CudaContext& context, Input<T> x, std::span<const std::type_identity_t<T>> scale, Matrix<T> y) {
    check_same_shape(x, y, "rms_norm");
    check_length(scale.size(), static_cast<std::size_t>(x.cols()));
    launch_blocks(context.stream(), x.rows(), row_threads(x.cols() * static_cast<std::int64_t>(sizeof(T))),
                  RmsNorm<T>{x.data(), scale.data(), y.data(), x.cols()});
}

template <class T>
void causal_softmax(CudaContext& context, std::int64_t heads, const CausalSoftmax<T>& body) {
    launch_blocks(context.stream(), heads * body.tile.rows, row_threads(body.tile.keys() * 4), body);
}

template <class T>
void causal_softmax_backward(CudaContext& context, std::int64_t heads, const CausalSoftmaxBackward<T>& body) {
    launch_blocks(context.stream(), heads * body.tile.rows, row_threads(body.tile.keys() * 4), body);
}

#define REHEARSE_INSTANTIATE(T)                                                                                      \
    template void permute(CudaContext&, Input<T>, const Route&, Matrix<T>);                                          \
    template void permute_backward(CudaContext&, Input<T>, const Route&, Matrix<T>);                                 \
    template void combine(CudaContext&, Input<T>, const Route&, Matrix<const float>, Matrix<T>);                     \
    template void combine_backward(CudaContext&, Input<T>, Input<T>, const Route&, Matrix<const float>, Matrix<T>,   \
                                   Matrix<float>);                                                                   \
    template void swiglu(CudaContext&, Input<T>, Matrix<T>);                                                         \
    template void swiglu_backward(CudaContext&, Input<T>, Input<T>, Matrix<T>);                                      \
    template void copy(CudaContext&, std::span<const T>, std::span<T>);                                              \
    template void scale_add(CudaContext&, std::span<const T>, std::span<const T>, float, std::span<T>);              \
    template void sum_buffers(CudaContext&, std::span<const T* const>, std::span<T>);                                \
    template void rms_norm(CudaContext&, Input<T>, std::span<const T>, Matrix<T>);                                   \
    template void causal_softmax(CudaContext&, std::int64_t, const CausalSoftmax<T>&);                               \
    template void causal_softmax_backward(CudaContext&, std::int64_t, const CausalSoftmaxBackward<T>&)

REHEARSE_INSTANTIATE(float);
REHEARSE_INSTANTIATE(Bf16);
REHEARSE_INSTANTIATE(Fp16);

}  // namespace rehearse::kernels::cuda

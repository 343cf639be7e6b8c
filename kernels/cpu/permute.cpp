#include "kernels/cpu/permute.hpp"

#include "kernels/body/permute.hpp"
#include "kernels/body/route.hpp"
#include "kernels/cpu/launch.hpp"

namespace rehearse::kernels {

namespace {

template <class A, class B>
void check_moved(const Route& route, const Matrix<A>& tokens, const Matrix<B>& rows) {
    REHEARSE_CHECK(tokens.rows() == route.tokens() && rows.rows() == route.rows() && tokens.cols() == rows.cols(),
                   "tokens are " + tokens.shape() + " and rows " + rows.shape() + "; the route has " +
                       std::to_string(route.tokens()) + " tokens and " + std::to_string(route.rows()) + " rows");
}

void check_weights(const Route& route, const Matrix<const float>& weights) {
    REHEARSE_CHECK(weights.rows() == route.tokens() && weights.cols() == route.top_k,
                   "weights are " + weights.shape() + " for " + std::to_string(route.tokens()) + " tokens of top_k " +
                       std::to_string(route.top_k));
}

}  // namespace

void plan_route(CpuContext& context, Matrix<const std::int32_t> chosen, std::int64_t experts, Route& route) {
    REHEARSE_CHECK(experts >= 1 && chosen.cols() >= 1, "a route needs experts and at least one choice per token");
    for (const std::int32_t expert : chosen.values()) {
        REHEARSE_CHECK(expert >= 0 && expert < experts,
                       "expert " + std::to_string(expert) + " of " + std::to_string(experts));
    }
    const std::int64_t slots = chosen.rows() * chosen.cols();
    const std::int64_t chunks = (slots + route_chunk - 1) / route_chunk;
    route.top_k = static_cast<int>(chosen.cols());
    route.row_of_slot.resize(static_cast<std::size_t>(slots));
    route.slot_of_row.resize(static_cast<std::size_t>(slots));
    route.rows_per_expert.resize(static_cast<std::size_t>(experts));
    std::int32_t* const counts = context.scratch<std::int32_t>(Scratch::route, chunks * experts).data();
    run_blocks(context, chunks, RouteCount{chosen.data(), counts, slots, experts});
    run_blocks(context, 1, RouteScan{counts, route.rows_per_expert.data(), chunks, experts});
    run_blocks(context, chunks,
               RoutePlace{chosen.data(), counts, route.row_of_slot.data(), route.slot_of_row.data(), slots, experts});
}

template <class T>
void permute(CpuContext& context, Input<T> tokens, const Route& route, Matrix<T> rows) {
    check_moved(route, tokens, rows);
    run_blocks(context, rows.rows(),
               Permute<T>{tokens.data(), route.slot_of_row.data(), rows.data(), rows.cols(), route.top_k});
}

template <class T>
void permute_backward(CpuContext& context, Input<T> d_rows, const Route& route, Matrix<T> d_tokens) {
    check_moved(route, d_tokens, d_rows);
    run_blocks(context, d_tokens.rows(), Combine<T>{d_rows.data(), route.row_of_slot.data(), nullptr, d_tokens.data(),
                                                    d_tokens.cols(), route.top_k});
}

template <class T>
void combine(CpuContext& context, Input<T> rows, const Route& route, Matrix<const float> weights, Matrix<T> tokens) {
    check_moved(route, tokens, rows);
    check_weights(route, weights);
    run_blocks(context, tokens.rows(), Combine<T>{rows.data(), route.row_of_slot.data(), weights.data(), tokens.data(),
                                                  tokens.cols(), route.top_k});
}

template <class T>
void combine_backward(CpuContext& context, Input<T> d_tokens, Input<T> rows, const Route& route,
                      Matrix<const float> weights, Matrix<T> d_rows, Matrix<float> d_weights) {
    check_moved(route, d_tokens, rows);
    check_same_shape(rows, d_rows, "rows and their gradient");
    check_weights(route, weights);
    check_weights(route, d_weights);
    run_blocks(context, route.rows(),
               CombineBackward<T>{d_tokens.data(), rows.data(), route.row_of_slot.data(), weights.data(), d_rows.data(),
                                  d_weights.data(), rows.cols(), route.top_k});
}

template void permute(CpuContext&, Input<float>, const Route&, Matrix<float>);
template void permute(CpuContext&, Input<Bf16>, const Route&, Matrix<Bf16>);
template void permute_backward(CpuContext&, Input<float>, const Route&, Matrix<float>);
template void permute_backward(CpuContext&, Input<Bf16>, const Route&, Matrix<Bf16>);
template void combine(CpuContext&, Input<float>, const Route&, Matrix<const float>, Matrix<float>);
template void combine(CpuContext&, Input<Bf16>, const Route&, Matrix<const float>, Matrix<Bf16>);
template void combine_backward(CpuContext&, Input<float>, Input<float>, const Route&, Matrix<const float>,
                               Matrix<float>, Matrix<float>);
template void combine_backward(CpuContext&, Input<Bf16>, Input<Bf16>, const Route&, Matrix<const float>, Matrix<Bf16>,
                               Matrix<float>);

}  // namespace rehearse::kernels

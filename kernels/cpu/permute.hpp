// Tokens to rows in the order of experts and back, on the CPU. T is float or Bf16; sums are in fp32.
#pragma once

#include <vector>

#include "kernels/cpu/context.hpp"
#include "kernels/element.hpp"
#include "kernels/matrix.hpp"

namespace rehearse::kernels {

// Where each (token, expert) pair has its row. Slot s = token * top_k + k; rows are ordered by expert, within an expert
// by slot. Example: two tokens, top_k 1, experts {1, 0}: row_of_slot = slot_of_row = {1, 0}.
struct Route {
    int top_k = 0;
    std::vector<std::int32_t> row_of_slot, slot_of_row;  // inverse of each other
    std::vector<std::int32_t> rows_per_expert;

    std::int64_t rows() const { return static_cast<std::int64_t>(row_of_slot.size()); }
    std::int64_t tokens() const { return top_k > 0 ? rows() / top_k : 0; }
};

// `chosen` (tokens x top_k) holds numbers below `experts`; any other is a broken invariant. A route that is planned
// again keeps its memory.
void plan_route(CpuContext& context, Matrix<const std::int32_t> chosen, std::int64_t experts, Route& route);

// rows[r] = tokens[token of r].
template <class T>
void permute(CpuContext& context, Input<T> tokens, const Route& route, Matrix<T> rows);
// d_tokens[t] = sum of the gradients of its rows.
template <class T>
void permute_backward(CpuContext& context, Input<T> d_rows, const Route& route, Matrix<T> d_tokens);

// tokens[t] = sum over k of weights[t][k] * its k-th row.
template <class T>
void combine(CpuContext& context, Input<T> rows, const Route& route, Matrix<const float> weights, Matrix<T> tokens);
// d_rows[r] = weight * d_tokens[t];  d_weights[t][k] = <d_tokens[t], its k-th row>.
template <class T>
void combine_backward(CpuContext& context, Input<T> d_tokens, Input<T> rows, const Route& route,
                      Matrix<const float> weights, Matrix<T> d_rows, Matrix<float> d_weights);

}  // namespace rehearse::kernels

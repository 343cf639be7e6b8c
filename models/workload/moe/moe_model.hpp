// The mixture-of-experts model: its parameters and FLOPs. Symbols: a query heads and g key heads of size d, E routed
// experts, k of them per token, E_s shared ones, f their inner size.
//
//   attention   h d (a + 2 g) + a d h                                            grouped-query
//               h r_q + r_q a (d + d_r) + h (r_k + d_r) + r_k 2 a d + a d h      latent
//   expert      3 h f                                                            SwiGLU
//   layer       attention + h E (gate) + (E + E_s) expert + 2 h (norms);  the first dense layers: one MLP, 3 h f_dense
//   model       layers + 2 V h + h;  active: k instead of E
//   FLOPs/token 6 (active - V h) + 6 l a (d_qk + d_v) / 2 s    causal; twice the last term for the full square
//
// With one shared expert the 352B model of MegaScale-MoE (EuroSys'26) has 351.86B parameters and 282.5 GFLOP a token.
#pragma once

#include <vector>

#include "models/workload/spec.hpp"

namespace rehearse {

struct MatrixShape {
    double in = 0, out = 0;  // of y = x W
};
// Of attention before (query, key, value) and after (output) its kernel.
std::vector<MatrixShape> input_projections(const ModelSpec& model);
MatrixShape output_projection(const ModelSpec& model);
double query_key_width(const ModelSpec& model);  // d, and the rotated part of latent attention

enum class ExpertCount : std::uint8_t { all, active };
double expert_parameters(const ModelSpec& model);  // of one
double dense_layer_parameters(const ModelSpec& model, std::int64_t layer);  // all but the routed experts
double moe_parameters(const ModelSpec& model, ExpertCount count);
bool has_experts(const ModelSpec& model, std::int64_t layer);

enum class AttentionSquare : std::uint8_t { causal, full };
double moe_flops_per_token(const ModelSpec& model, AttentionSquare square);  // forward and backward

}  // namespace rehearse

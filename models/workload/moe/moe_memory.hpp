// Activations of a mixture-of-experts layer, in units of n h elements of two bytes (n tokens of a rank, see
// moe_layer_builder.hpp). g = a / (2 key heads a side) is written m: query heads per key head.
//
//   kept by the formula of MegaScale-MoE (EuroSys'26, section 4):   2 w + 2 k e_t + 3 k f + 12 + 5 / m
//   with selective recomputation:                                   2 k f + 4 + 2 / m
//   w = ranks that a gathered copy of the tokens comes from, f = f_expert / h; shared experts add 3 f_s, or 2 f_s
// Beside the formula, which recomputation does not lower: the residual stream in single precision (4), and the rows on
// the side of the sender, permuted and returned (2 k).
#pragma once

#include "models/workload/spec.hpp"

namespace rehearse {

// Bytes that a layer with experts, or one of the dense layers, keeps from forward to backward for one micro-batch.
double moe_layer_activation_bytes(const TrainingSpec& training, std::int64_t layer, Recompute recompute);

}  // namespace rehearse

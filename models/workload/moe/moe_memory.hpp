// Activations of a mixture-of-experts layer, in units of n h elements of two bytes (n tokens of a rank, see
// moe_layer_builder.hpp). g = a / (2 key heads a side) is written m: query heads per key head.
//
//   kept by the formula of MegaScale-MoE (EuroSys'26, section 4):   2 w + 2 k e_t + 3 k f + 12 + 5 / m
//   with selective recomputation:                                   2 k f + 4 + 2 / m
//   w = ranks that a gathered copy of the tokens comes from (k where rows travel beyond a node, which nothing gathers),
//   f = f_expert / h; shared experts add 3 f_s, or 2 f_s
//
// These are what layers keep. A GPU holds beside them, whatever is recomputed: the gradients of one layer's
// activations, the logits (workspace), and the reserve of the device profile (context, communication buffers,
// fragmentation); with recomputation also one layer that is whole again. Together they are why activations fall less
// than the formula's 66 % and 69 % on Mixtral 8x7B and 8x22B, 45.5 % and 57.2 % as measured: `validate moe-memory`.
#pragma once

#include "models/workload/spec.hpp"

namespace rehearse {

// Bytes that a layer with experts, or one of the dense layers, keeps from forward to backward for one micro-batch.
double moe_layer_activation_bytes(const TrainingSpec& training, std::int64_t layer, Recompute recompute);

}  // namespace rehearse

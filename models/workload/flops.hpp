// Model FLOPs as MFU counts them: 72 l h^2 (1 + s_eff / (6 h) + V / (12 l h)) per token, forward and backward, for a
// dense GPT. s_eff is twice the mean attended length, capped at s: full causal attention gives s; a causal window of w
// tokens gives 2 (w - w^2 / (2 s)), because the first w tokens see fewer. For kind moe see moe/moe_model.hpp:
// `windowed` counts the causal half.
#pragma once

#include "models/workload/spec.hpp"

namespace rehearse {

enum class AttentionCount : std::uint8_t { windowed, full };

double effective_sequence(const ModelSpec& model, std::int64_t window);
double model_flops_per_token(const TrainingSpec& training, AttentionCount count);
// With recomputation: full adds one forward (x 4/3 on the layers), selective adds the attention products
// (none with the efficient operators, which keep no scores and compute nothing again).
double hardware_flops_per_token(const TrainingSpec& training);

}  // namespace rehearse

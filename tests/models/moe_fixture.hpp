// Internal-352B of MegaScale-MoE as it is laid out: 8 ranks a node, 15 stages.
#pragma once

#include "models/workload/spec.hpp"

namespace rehearse {

inline TrainingSpec moe_352b() {
    TrainingSpec training;
    ModelSpec& model = training.model;
    model.kind = ModelKind::moe;
    model.layers = 60;
    model.hidden = 4096;
    model.heads = 32;
    model.kv_heads = 8;
    model.ffn = 14336;
    model.vocab = 65536;
    model.sequence = 8192;
    model.experts = {.routed = 32, .shared = 1, .top_k = 3};
    training.batch_global = 720;
    training.parallel = {.tensor = 8, .pipeline = 15, .data = 2};
    training.parallel.sequence = Switch::on;
    training.parallel.zero = 1;
    training.technique.operators = OperatorSet::efficient;
    return training;
}

// Attention by sequence, experts over the eight ranks of a node.
inline TrainingSpec sequence_and_experts() {
    TrainingSpec training = moe_352b();
    training.parallel.attention = AttentionCut::sequence;
    training.parallel.expert = 8;
    training.parallel.expert_tensor = 1;
    return training;
}

}  // namespace rehearse

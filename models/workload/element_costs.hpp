// Memory-bound kernels of a transformer layer, counted in passes: one pass reads or writes each element once, two
// bytes. A layer norm that runs as one kernel reads x and writes y: two passes. In three kernels (mean and variance,
// normalise, scale and shift) it makes six. Backward of the one-kernel form reads x, dy and writes dx, then reads both
// again for the parameter gradients.
#pragma once

#include "models/workload/spec.hpp"

namespace rehearse {

struct PassCount {
    double passes;
    std::int64_t kernels;
};

struct ElementCosts {
    PassCount norm_forward, norm_backward;
    PassCount gelu_forward, gelu_backward;
    PassCount residual_forward, residual_backward;  // bias, dropout, add: x, residual, result (and a 1-byte mask)
    double softmax_forward_bytes, softmax_backward_bytes;  // per score, materialised attention
    double loss_forward_bytes, loss_backward_bytes;        // per logit; fp32 softmax cross-entropy
};

ElementCosts element_costs(OperatorSet operators, Switch dropout);

}  // namespace rehearse

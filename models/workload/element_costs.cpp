#include "models/workload/element_costs.hpp"

namespace rehearse {

ElementCosts element_costs(OperatorSet operators, Switch dropout) {
    const bool split = operators == OperatorSet::unfused;
    const bool drops = is_on(dropout);
    ElementCosts costs{};
    costs.norm_forward = split ? PassCount{6, 3} : PassCount{2, 1};
    costs.norm_backward = split ? PassCount{9, 4} : PassCount{4, 2};
    costs.gelu_forward = split ? PassCount{4, 2} : PassCount{2, 1};
    costs.gelu_backward = split ? PassCount{5, 2} : PassCount{3, 1};
    costs.residual_forward = {drops ? 3.5 : 3.0, 1};
    costs.residual_backward = {drops ? 3.5 : 3.0, 1};
    // Fused scale-mask-softmax reads and writes each score once; dropout reads, writes and keeps a 1-byte mask.
    costs.softmax_forward_bytes = 4 + (drops ? 5 : 0);
    costs.softmax_backward_bytes = 6 + (drops ? 5 : 0);
    // Loss: cast 2 + 4, maximum 4, subtract 8, exponential 8, sum 4, divide 8; backward 8 + cast 6. Fused: three passes
    // of four bytes forward, two backward.
    const bool fused_loss = operators == OperatorSet::efficient;
    costs.loss_forward_bytes = fused_loss ? 12 : 38;
    costs.loss_backward_bytes = fused_loss ? 8 : 14;
    return costs;
}

}  // namespace rehearse

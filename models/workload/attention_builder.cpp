// The attention of LayerBuilder: materialised or fused, in one piece or in the steps of a ring.
#include <cmath>

#include "models/workload/layer_builder.hpp"

namespace rehearse {

// c steps of attention; all but the last one hide the exchange for the step behind them.
template <class Step>
void LayerBuilder::ring(double tensors, const Step& step) {
    for (std::int64_t left = training_.parallel.context; left-- > 0;) {
        const std::size_t first = mark();
        step();
        if (left > 0) close(LocalCollectiveKind::ring_exchange, tensors * 2 * tokens_ * h_ / t_, Hiding::under, first);
    }
}

void LayerBuilder::attention_forward() {
    memory("heads", 2 * 2 * tokens_ * 4 * h_ / t_, 2);  // QKV to heads and the context back: read, write
    ring(2, [&] {
        if (training_.technique.operators == OperatorSet::efficient) return fused_step(AttentionPhase::forward);
        score_gemm("scores", block_, block_, head_size_);
        memory("softmax", costs_.softmax_forward_bytes * scores_, is_on(training_.dropout) ? 2 : 1);
        score_gemm("context", block_, head_size_, block_);
    });
}

void LayerBuilder::attention_backward() {
    memory("heads backward", 2 * 2 * tokens_ * 4 * h_ / t_, 2);
    ring(4, [&] {
        if (training_.technique.operators == OperatorSet::efficient) return fused_step(AttentionPhase::backward);
        for (const char* name : {"dv", "dp"}) score_gemm(name, block_, head_size_, block_);
        memory("softmax backward", costs_.softmax_backward_bytes * scores_, is_on(training_.dropout) ? 2 : 1);
        for (const char* name : {"dq", "dk"}) score_gemm(name, block_, head_size_, block_);
    });
}

// The keys alone go round again: scores need no values.
void LayerBuilder::recompute_attention() {
    ring(1, [&] {
        score_gemm("scores again", block_, block_, head_size_);
        memory("softmax again", costs_.softmax_forward_bytes * scores_, is_on(training_.dropout) ? 2 : 1);
    });
}

void LayerBuilder::fused_step(AttentionPhase phase) {
    const bool forward = phase == AttentionPhase::forward;
    Operator op;
    op.kind = OperatorKind::attention;
    op.phase = phase;
    op.name = forward ? "flash attention" : "flash attention backward";
    // Causal half of 4 s h; tiles across the diagonal and the band edge cost about a tenth more (64 to 128 wide
    // blocks). Backward has five products where forward has two.
    op.flops = {(forward ? 1.0 : 2.5) * 4 * tokens_ * h_ / t_ * attended_ / 2 * 1.1 /
                static_cast<double>(training_.parallel.context)};
    op.bytes = 2 * tokens_ * (forward ? 4 : 8) * h_ / t_;
    op.kernels = forward ? 1 : 2;
    add(op);
}

void LayerBuilder::score_gemm(const char* name, double m, double n, double k) {
    Operator& op = gemm(name, m, n, k);
    op.batch = std::llround(batch_ * heads_);
    op.fill = scores_ / (batch_ * heads_ * block_ * block_);
}

}  // namespace rehearse

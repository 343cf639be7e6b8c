// The attention of MoeLayerBuilder.
#include "models/workload/moe/moe_layer_builder.hpp"

namespace rehearse {

void MoeLayerBuilder::attention_forward() {
    const std::vector<MatrixShape> in = input_projections(model_);
    const MatrixShape out = output_projection(model_);
    passes("norm", costs_.norm_forward, n_ * h_);
    const double cut = by_heads() ? t_ : 1, tokens = by_heads() ? group_tokens_ : n_;
    if (by_heads() && tiles() == Hiding::none) sync_tokens(LocalCollectiveKind::all_gather, Hiding::none);
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (i > 0) passes("latent norm", costs_.norm_forward, tokens * in[i].in);
        const bool whole = in.size() > 1 && i == 0;  // the low-rank product isn't cut by heads
        projection("qkv", tokens, in[i].in, in[i].out / (whole ? 1 : cut));
    }
    if (by_heads() && tiles() != Hiding::none) sync_tokens(LocalCollectiveKind::all_gather, Hiding::fused);
    if (!by_heads()) sync(LocalCollectiveKind::all_to_all, 2 * n_ * in.back().out, tiles(), last());
    attention_kernel(AttentionPhase::forward);
    if (!by_heads() && tiles() == Hiding::none) sync(LocalCollectiveKind::all_to_all, 2 * n_ * out.in, Hiding::none, 0);
    const std::size_t product = mark();
    projection("output", tokens, out.in / cut, h_);
    if (!by_heads() && tiles() != Hiding::none) {
        sync(LocalCollectiveKind::all_to_all, 2 * n_ * out.in, Hiding::fused, product);
    }
    if (by_heads()) sync_tokens(LocalCollectiveKind::reduce_scatter, tiles());
    passes("residual", costs_.residual_forward, n_ * h_);
}

void MoeLayerBuilder::attention_backward() {
    const std::vector<MatrixShape> in = input_projections(model_);
    const MatrixShape out = output_projection(model_);
    const double cut = by_heads() ? t_ : 1, tokens = by_heads() ? group_tokens_ : n_;
    passes("residual backward", costs_.residual_backward, n_ * h_);
    if (again()) passes("norm again", costs_.norm_forward, n_ * h_);
    if (by_heads()) {
        if (tiles() == Hiding::none) sync_tokens(LocalCollectiveKind::all_gather, Hiding::none);
        projection("output dgrad", tokens, h_, out.in / cut);
        if (tiles() != Hiding::none) sync_tokens(LocalCollectiveKind::all_gather, Hiding::fused);
        weight_gradient("output wgrad", out.in / cut, h_, tokens);
    } else if (beside()) {
        projection("output dgrad", tokens, h_, out.in);
        const std::size_t beside = mark();
        weight_gradient("output wgrad", out.in, h_, tokens);
        sync(LocalCollectiveKind::all_to_all, 2 * n_ * out.in, Hiding::under, beside);
    } else {
        projection("output dgrad", tokens, h_, out.in);
        sync(LocalCollectiveKind::all_to_all, 2 * n_ * out.in, tiles(), last());
        weight_gradient("output wgrad", out.in, h_, tokens);
    }
    attention_kernel(AttentionPhase::backward);
    if (!by_heads() && tiles() == Hiding::none) {
        sync(LocalCollectiveKind::all_to_all, 2 * n_ * in.back().out, Hiding::none, 0);
    }
    const std::size_t product = mark();
    for (std::size_t i = in.size(); i-- > 0;) {
        const bool whole = in.size() > 1 && i == 0;
        projection("qkv dgrad", tokens, in[i].out / (whole ? 1 : cut), in[i].in);
        if (i > 0) passes("latent norm backward", costs_.norm_backward, tokens * in[i].in);
    }
    if (!by_heads() && tiles() != Hiding::none) {
        sync(LocalCollectiveKind::all_to_all, 2 * n_ * in.back().out, Hiding::fused, product);
    }
    // Megatron-LM gathers the input again beside the input gradient and scatters it beside the weight gradient.
    if (by_heads()) sync_tokens(LocalCollectiveKind::all_gather, Hiding::under);
    for (std::size_t i = 0; i < in.size(); ++i) {
        const bool whole = in.size() > 1 && i == 0;
        weight_gradient("qkv wgrad", in[i].in, in[i].out / (whole ? 1 : cut), tokens);
    }
    if (by_heads()) sync_tokens(LocalCollectiveKind::reduce_scatter, Hiding::under);
    passes("norm backward", costs_.norm_backward, n_ * h_);
}

// Fused causal attention in c steps of a ring: see layer_builder.hpp.
void MoeLayerBuilder::attention_kernel(AttentionPhase phase) {
    const bool forward = phase == AttentionPhase::forward;
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double d = real(model_.head_width()), qk = query_key_width(model_);
    const double heads = real(model_.heads) / t_, keys = real(model_.key_heads()) / t_;
    const double s = real(model_.sequence);
    passes("rotary embedding", {2, 1},
           group_tokens_ * (heads + keys) * (model_.latent.query_rank > 0 ? real(model_.latent.rope) : d));
    for (std::int64_t left = training_.parallel.context; left-- > 0;) {
        const std::size_t first = mark();
        Operator op;
        op.kind = OperatorKind::attention;
        op.phase = phase;
        op.name = forward ? "flash attention" : "flash attention backward";
        // Two products forward, five backward, half of the square; a tenth more for tiles across the diagonal.
        op.flops = {1.1 * (forward ? 1.0 : 2.5) * group_tokens_ * s * heads * (qk + d) / c_};
        op.bytes = 2 * group_tokens_ * (forward ? 1 : 2) * (heads * (qk + d) + keys * (qk + d));
        op.kernels = forward ? 1 : 2;
        add(op);
        if (left == 0) break;
        LocalCollective ring;
        ring.kind = LocalCollectiveKind::ring_exchange;
        ring.bytes = 2 * (forward ? 1 : 2) * group_tokens_ * keys * (qk + d);
        ring.hiding = Hiding::under;
        ring.partner = first;
        close(ring);
    }
}

}  // namespace rehearse

// MoeLayerBuilder under DualPipe: a layer forward and a layer backward side by side (moe_layer_builder.hpp has the
// order). Memory-bound kernels are counted in bytes: a fused kernel reads and writes each of its tensors once. With fp8
// the operands of products have one byte; casting reads two and writes one. A weight gradient contracts over tokens and
// takes both operands quantised along them: a pass of its own over what was quantised along the other dimension.
#include "models/workload/moe/moe_layer_builder.hpp"

namespace rehearse {

namespace {

constexpr double half = 2;  // bytes

}  // namespace

void MoeLayerBuilder::unit(std::optional<std::int64_t> forward, std::optional<std::int64_t> backward, Switch weights) {
    const bool forward_rows = forward && has_experts(model_, *forward);
    const bool backward_rows = backward && has_experts(model_, *backward);
    if (backward_rows) layer_ = static_cast<std::uint32_t>(*backward);
    if (backward) passes("residual backward", costs_.residual_backward, n_ * h_);
    if (backward_rows) quantise("cast gradients", n_ * h_);
    std::size_t first = mark();
    if (forward) paired_attention_forward(*forward);
    if (backward_rows) paired_exchange(LocalCollectiveKind::dispatch, Switch::on, first, weights_from_);
    weights_from_ = LocalCollective::not_early;
    first = mark();
    if (backward) paired_mlp_backward(*backward);
    if (forward_rows) paired_exchange(LocalCollectiveKind::dispatch, Switch::off, first, LocalCollective::not_early);
    if (forward_rows) layer_ = static_cast<std::uint32_t>(*forward);
    first = mark();
    if (backward && is_on(weights)) paired_mlp_weights(*backward);
    if (forward_rows && collective_before() != nullptr) collective_before()->late = mark();  // mlp(W) needs no rows
    if (forward) paired_mlp_forward(*forward);
    if (backward_rows) paired_exchange(LocalCollectiveKind::combine, Switch::on, first, LocalCollective::not_early);
    first = mark();
    if (backward) paired_attention_backward(*backward);
    const std::size_t gradients = mark();
    if (backward && is_on(weights)) paired_attention_weights(*backward);
    if (forward_rows) paired_exchange(LocalCollectiveKind::combine, Switch::on, first, LocalCollective::not_early);
    if (forward_rows && backward && is_on(weights)) weights_from_ = gradients;
    layer_ = no_layer;
    // The shared experts' results join those that the exchange has summed.
    if (forward_rows && shared_ > 0) passes("residual", {costs_.residual_forward.passes + 1, 1}, n_ * h_);
    else if (forward) passes("residual", costs_.residual_forward, n_ * h_);
}

void MoeLayerBuilder::weights(std::int64_t layer) {
    paired_mlp_weights(layer);
    paired_attention_weights(layer);
}

// Norm, attention, residual, norm; gate and the cast of what is dispatched.
void MoeLayerBuilder::paired_attention_forward(std::int64_t layer) {
    const std::vector<MatrixShape> in = input_projections(model_);
    const MatrixShape out = output_projection(model_);
    if (joins(layer)) {
        for (int i = 0; i < 2; ++i) passes("norm", costs_.norm_forward, n_ * h_);
        quantise("cast", 2 * n_ * h_);
        product("join", 2 * h_, h_);
    }
    passes("norm", costs_.norm_forward, n_ * h_);
    quantise("cast", n_ * h_);
    product("qkv", in.front().in, in.front().out);
    latent_up_projections();
    attention_kernel(AttentionPhase::forward);
    quantise("cast", n_ * out.in);
    product("output", out.in, h_);
    passes("residual", costs_.residual_forward, n_ * h_);
    passes("norm", costs_.norm_forward, n_ * h_);
    if (has_experts(model_, layer)) {
        gemm("gate", n_, experts_, h_);
        passes("top-k", custom_ ? PassCount{8, 3} : PassCount{24, 12}, n_ * experts_);
    }
    quantise("cast", n_ * h_);
}

// Queries and keys of full width from their latents; keys join the rotated part, which all heads share.
void MoeLayerBuilder::latent_up_projections() {
    const std::vector<MatrixShape> in = input_projections(model_);
    for (std::size_t i = 1; i < in.size(); ++i) {
        passes("latent norm", costs_.norm_forward, n_ * in[i].in);
        quantise("cast", n_ * in[i].in);
        product("latent up", in[i].in, in[i].out);
    }
    if (in.size() < 2) return;
    const double d = static_cast<double>(model_.head_width()), heads = static_cast<double>(model_.heads);
    memory("join keys", half * n_ * heads * (d + query_key_width(model_)), 1);
}

// FlashAttention's backward has a kernel before it (reads the result and its gradient, clears the gradients of queries)
// and one behind (those from single to half precision). Latent attention then takes the gradients of keys and values
// apart and joins them again by latent.
void MoeLayerBuilder::attention_gradient_kernels() {
    const double d = static_cast<double>(model_.head_width()), queries = query_key_width(model_);
    const double heads = static_cast<double>(model_.heads), keys = static_cast<double>(model_.key_heads());
    memory("attention before", n_ * heads * (2 * half * d + 4 * queries), 1);
    memory("attention behind", n_ * heads * (4 + half) * queries, 1);
    if (model_.latent.query_rank > 0) memory("split keys", half * n_ * keys * (queries + d + 2 * d), 1);
}

void MoeLayerBuilder::paired_attention_backward(std::int64_t layer) {
    const std::vector<MatrixShape> in = input_projections(model_);
    const MatrixShape out = output_projection(model_);
    if (has_experts(model_, layer)) {
        passes("gate backward", custom_ ? PassCount{8, 3} : PassCount{24, 12}, n_ * experts_);
        gemm("gate dgrad", n_, h_, experts_);
        passes("sum gradients", {shared_ > 0 ? 4.0 : 3.0, 1}, n_ * h_);  // of routed and shared experts, and the gate
    }
    if (again()) passes("norm again", costs_.norm_forward, n_ * h_);
    passes("norm backward", costs_.norm_backward, n_ * h_);
    passes("residual backward", costs_.residual_backward, n_ * h_);
    quantise("cast", n_ * h_);
    product("output dgrad", h_, out.in);
    if (again()) {
        passes("norm again", costs_.norm_forward, n_ * h_);
        latent_up_projections();
    }
    attention_kernel(AttentionPhase::backward);
    attention_gradient_kernels();
    for (std::size_t i = in.size(); i-- > 0;) {
        quantise("cast", n_ * in[i].out);
        product("qkv dgrad", in[i].out, in[i].in);
        if (i > 0) passes("latent norm backward", costs_.norm_backward, n_ * in[i].in);
    }
    passes("norm backward", costs_.norm_backward, n_ * h_);
    if (!joins(layer)) return;
    quantise("cast", n_ * h_);
    product("join dgrad", h_, 2 * h_);
    for (int i = 0; i < 2; ++i) passes("norm backward", costs_.norm_backward, n_ * h_);
}

void MoeLayerBuilder::paired_attention_weights(std::int64_t layer) {
    const MatrixShape out = output_projection(model_);
    if (joins(layer)) product_weights("join wgrad", 2 * h_, h_);
    if (has_experts(model_, layer)) gemm("gate wgrad", experts_, h_, n_, 8);
    product_weights("output wgrad", out.in, h_);
    for (const MatrixShape& shape : input_projections(model_)) product_weights("qkv wgrad", shape.in, shape.out);
}

void MoeLayerBuilder::paired_mlp_forward(std::int64_t layer) {
    const double element = is_fp8() ? fp8_element : half;
    const bool experts = has_experts(model_, layer);
    const double inner = experts ? shared_ : static_cast<double>(model_.ffn_size());
    if (inner > 0) {
        product("mlp up", h_, 2 * inner);
        memory("swiglu", (2 * half + element) * n_ * inner, 1);
        product("mlp down", inner, h_);
    }
    if (!experts) return;
    rows_moved("permute", 2 * element);
    grouped("expert up", h_, 2 * inner_);
    memory("swiglu", (2 * half + element) * rows_ * inner_, 1).expert_rows = ExpertRows::bytes;
    grouped("expert down", inner_, h_);
    rows_moved("unpermute", 2 * half);
}

void MoeLayerBuilder::paired_mlp_backward(std::int64_t layer) {
    const double element = is_fp8() ? fp8_element : half;
    const bool experts = has_experts(model_, layer);
    const double inner = experts ? shared_ : static_cast<double>(model_.ffn_size());
    if (!experts) quantise("cast gradients", n_ * h_);
    if (inner > 0) {
        product("mlp down dgrad", h_, inner);
        recomputing_swiglu_backward("swiglu backward", n_ * inner, ExpertRows::none);
        product("mlp up dgrad", 2 * inner, h_);
    }
    if (!experts) return;
    rows_moved("permute gradients", 2 * element);
    grouped("expert down dgrad", h_, inner_);
    recomputing_swiglu_backward("swiglu backward", rows_ * inner_, ExpertRows::bytes);
    grouped("expert up dgrad", 2 * inner_, h_);
    rows_moved("unpermute gradients", 2 * half);
}

void MoeLayerBuilder::paired_mlp_weights(std::int64_t layer) {
    const bool experts = has_experts(model_, layer);
    const double inner = experts ? shared_ : static_cast<double>(model_.ffn_size());
    if (inner > 0) {
        if (is_fp8()) memory("cast along tokens", 4 * fp8_element * n_ * h_, 2);
        product_weights("mlp down wgrad", inner, h_);
        product_weights("mlp up wgrad", h_, 2 * inner);
    }
    if (!experts) return;
    if (is_fp8()) rows_moved("cast along rows", 4 * fp8_element);  // gradients of results, and inputs
    grouped_weights("expert down wgrad", inner_, h_);
    grouped_weights("expert up wgrad", h_, 2 * inner_);
}

// Reads both halves of the input and the gradient of the result; writes the gradients of both halves, in fp8 along rows
// and along columns, and what the weight gradient needs of the result.
void MoeLayerBuilder::recomputing_swiglu_backward(const char* name, double elements, ExpertRows scaled) {
    const double element = is_fp8() ? fp8_element : half;
    const double written = is_fp8() ? 4 * element : 2 * element;
    const double result = again() ? element : 0;
    memory(name, (2 * element + half + written + result) * elements, 1).expert_rows = scaled;
}

void MoeLayerBuilder::quantise(const char* name, double elements) {
    if (is_fp8()) memory(name, (half + fp8_element) * elements, 1);
}

void MoeLayerBuilder::rows_moved(const char* name, double bytes_per_element) {
    memory(name, bytes_per_element * rows_ * h_, 1).expert_rows = ExpertRows::bytes;
}

void MoeLayerBuilder::product(const char* name, double in, double out) {
    gemm(name, n_, out, in).precision = is_fp8() ? Precision::fp8 : Precision::half;
}

void MoeLayerBuilder::product_weights(const char* name, double in, double out) {
    gemm(name, in, out, n_, 8).precision = is_fp8() ? Precision::fp8 : Precision::half;
}

void MoeLayerBuilder::grouped(const char* name, double in, double out) {
    Operator& op = gemm(name, rows_ / experts_here_, out, in);
    op.batch = static_cast<std::int64_t>(experts_here_);
    op.expert_rows = ExpertRows::m;
    op.precision = is_fp8() ? Precision::fp8 : Precision::half;
}

void MoeLayerBuilder::grouped_weights(const char* name, double in, double out) {
    Operator& op = gemm(name, in, out, rows_ / experts_here_, 8);
    op.batch = static_cast<std::int64_t>(experts_here_);
    op.expert_rows = ExpertRows::k;
    op.precision = is_fp8() ? Precision::fp8 : Precision::half;
}

// Beside the operators of the segment from `partner` on; blocking where there are none.
void MoeLayerBuilder::paired_exchange(LocalCollectiveKind kind, Switch cached, std::size_t partner, std::size_t early) {
    if (expert_ranks_ <= 1) return;
    LocalCollective collective;
    collective.kind = kind;
    collective.hiding = mark() > partner ? Hiding::under : Hiding::none;
    collective.partner = partner;
    collective.early = early;
    collective.exchange = exchange_shape(kind);
    collective.exchange.cached = cached;
    close(collective);
}

}  // namespace rehearse

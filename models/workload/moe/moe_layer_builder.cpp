#include "models/workload/moe/moe_layer_builder.hpp"

namespace rehearse {

namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

MoeLayerBuilder::MoeLayerBuilder(const TrainingSpec& training, Work& work)
    : SegmentWriter(work), training_(training), model_(training.model),
      costs_(element_costs(training.technique.operators, training.dropout)),
      custom_(training.technique.operators == OperatorSet::efficient) {
    const ParallelSpec& parallel = training.parallel;
    t_ = real(parallel.tensor);
    c_ = real(parallel.context);
    h_ = real(model_.hidden);
    group_tokens_ = real(training.micro_batch * model_.sequence) / c_;
    n_ = group_tokens_ / t_;
    if (model_.experts.routed == 0) return;
    expert_ranks_ = real(parallel.expert);
    expert_width_ = real(parallel.expert_width());
    experts_ = real(model_.experts.routed);
    experts_here_ = experts_ / expert_ranks_;
    top_k_ = real(model_.experts.top_k);
    inner_ = real(model_.expert_ffn()) / expert_width_;
    shared_ = real(model_.experts.shared * model_.expert_ffn()) / (by_heads() ? t_ : 1);
    rows_ = n_ * expert_width_ * top_k_;
}

void MoeLayerBuilder::forward(std::int64_t layer) {
    if (joins(layer)) {
        for (int i = 0; i < 2; ++i) passes("norm", costs_.norm_forward, n_ * h_);
        projection("join", n_, 2 * h_, h_);
    }
    attention_forward();
    passes("norm", costs_.norm_forward, n_ * h_);
    if (has_experts(model_, layer)) {
        enter_layer(static_cast<std::uint32_t>(layer));
        gate_forward();
        experts_forward();
        enter_layer(no_layer);
    } else {
        mlp_forward(real(model_.ffn_size()) / t_);
    }
    passes("residual", costs_.residual_forward, n_ * h_);
}

void MoeLayerBuilder::backward(std::int64_t layer) {
    passes("residual backward", costs_.residual_backward, n_ * h_);
    if (again()) passes("norm again", costs_.norm_forward, n_ * h_);
    if (has_experts(model_, layer)) {
        enter_layer(static_cast<std::uint32_t>(layer));
        experts_backward();
        gate_backward();
        enter_layer(no_layer);
    } else {
        mlp_backward(real(model_.ffn_size()) / t_);
    }
    passes("norm backward", costs_.norm_backward, n_ * h_);
    attention_backward();
    if (!joins(layer)) return;
    projection("join dgrad", n_, h_, 2 * h_);
    weight_gradient("join wgrad", 2 * h_, h_, n_);
    for (int i = 0; i < 2; ++i) passes("norm backward", costs_.norm_backward, n_ * h_);
}

// SwiGLU MLP cut over the tensor group.
void MoeLayerBuilder::mlp_forward(double inner) {
    if (tiles() == Hiding::none) sync_tokens(LocalCollectiveKind::all_gather, Hiding::none);
    projection("mlp up", group_tokens_, h_, 2 * inner);
    if (tiles() != Hiding::none) sync_tokens(LocalCollectiveKind::all_gather, Hiding::fused);
    swiglu("swiglu", group_tokens_, inner, custom_ ? 3 : 5, ExpertRows::none);
    projection("mlp down", group_tokens_, inner, h_);
    sync_tokens(LocalCollectiveKind::reduce_scatter, tiles());
}

void MoeLayerBuilder::mlp_backward(double inner) {
    sync_tokens(LocalCollectiveKind::all_gather, Hiding::none);
    projection("mlp down dgrad", group_tokens_, h_, inner);
    if (again()) swiglu("swiglu again", group_tokens_, inner, custom_ ? 3 : 5, ExpertRows::none);
    weight_gradient("mlp down wgrad", inner, h_, group_tokens_);
    swiglu("swiglu backward", group_tokens_, inner, custom_ ? 5 : 8, ExpertRows::none);
    projection("mlp up dgrad", group_tokens_, 2 * inner, h_);
    sync_tokens(LocalCollectiveKind::all_gather, Hiding::under);
    weight_gradient("mlp up wgrad", h_, 2 * inner, group_tokens_);
    sync_tokens(LocalCollectiveKind::reduce_scatter, Hiding::under);
}

void MoeLayerBuilder::projection(const char* name, double rows, double in, double out) {
    Operator& op = gemm(name, rows, out, in);
    if (training_.precision != TrainingPrecision::fp8) return;
    op.precision = Precision::fp8;
    memory("cast", 3 * rows * in, 1);  // read two bytes, write one
}

void MoeLayerBuilder::weight_gradient(const char* name, double in, double out, double rows) {
    Operator& op = gemm(name, in, out, rows, 8);
    if (training_.precision != TrainingPrecision::fp8) return;
    op.precision = Precision::fp8;
    memory("cast", 3 * rows * (in + out), 2);  // both operands along the other dimension
}

void MoeLayerBuilder::swiglu(const char* name, double rows, double width, double count, ExpertRows scaled) {
    passes(name, {count, custom_ ? 1 : 2}, rows * width).expert_rows = scaled;
}

void MoeLayerBuilder::sync(LocalCollectiveKind kind, double bytes, Hiding hiding, std::size_t partner) {
    if (t_ > 1) close(kind, bytes, hiding, partner);
}

void MoeLayerBuilder::sync_tokens(LocalCollectiveKind kind, Hiding hiding) {
    sync(kind, 2 * group_tokens_ * h_, hiding, last());
}

}  // namespace rehearse

// The experts of MoeLayerBuilder: gate, permutation, exchange, grouped products, shared experts.
#include "models/workload/moe/moe_layer_builder.hpp"

namespace rehearse {

namespace {

// Gate: softmax, top-k, histogram and sort over the logits in single precision; passes of two bytes and kernels, plain
// and fused.
constexpr PassCount gate_plain{24, 12}, gate_fused{8, 3};

}  // namespace

void MoeLayerBuilder::gate_forward() {
    gemm("gate", n_, experts_, h_);
    passes("top-k", custom_ ? gate_fused : gate_plain, n_ * experts_);
}

void MoeLayerBuilder::gate_backward() {
    passes("gate backward", custom_ ? gate_fused : gate_plain, n_ * experts_);
    gemm("gate dgrad", n_, h_, experts_);
    gemm("gate wgrad", experts_, h_, n_, 8);
}

void MoeLayerBuilder::routed_rows(const char* name, double count) {
    passes(name, {count, custom_ ? 1 : 3}, rows_ * h_).expert_rows = ExpertRows::bytes;
}

// Tokens (n, read once by a kernel of its own, k times by plain index kernels) into rows that are ordered by expert.
// Plain libraries order the received rows a second time, by local expert. Fused with the grouped product: neither.
void MoeLayerBuilder::permute(const char* name) {
    if (is_on(training_.technique.overlap_tiles)) return;
    if (custom_) return routed_rows(name, 1 + 1 / top_k_);
    routed_rows(name, 2);
    if (expert_ranks_ > 1 && experts_here_ > 1) routed_rows(name, 2);
}

// Rows back to tokens, weighted. Plain: multiply by the weight (read, write), then scatter-add (read, read and write).
void MoeLayerBuilder::unpermute(const char* name) {
    if (is_on(training_.technique.overlap_tiles)) return;
    if (custom_) return routed_rows(name, 1 + 1 / top_k_);
    routed_rows(name, 5);
    if (expert_ranks_ > 1 && experts_here_ > 1) routed_rows(name, 2);
}

void MoeLayerBuilder::expert_product(const char* name, double in, double out) {
    Operator& op = gemm(name, rows_ / experts_here_, out, in);
    op.batch = static_cast<std::int64_t>(experts_here_);
    op.expert_rows = ExpertRows::m;
    if (training_.precision != TrainingPrecision::fp8) return;
    op.precision = Precision::fp8;
    memory("cast", 3 * rows_ * in, 1).expert_rows = ExpertRows::bytes;
}

void MoeLayerBuilder::expert_weight_gradient(const char* name, double in, double out) {
    Operator& op = gemm(name, in, out, rows_ / experts_here_, 8);
    op.batch = static_cast<std::int64_t>(experts_here_);
    op.expert_rows = ExpertRows::k;
    if (training_.precision != TrainingPrecision::fp8) return;
    op.precision = Precision::fp8;
    memory("cast", 3 * rows_ * (in + out), 2).expert_rows = ExpertRows::bytes;
}

ExchangeShape MoeLayerBuilder::exchange_shape(LocalCollectiveKind kind) const {
    const double element = kind == LocalCollectiveKind::dispatch && is_fp8() ? fp8_element : 2;
    ExchangeShape shape{n_ * expert_width_, model_.experts.top_k, element * h_, model_.experts.routed,
                        model_.experts.node_limit};
    const ExchangeChoice choice = training_.technique.exchange;
    if (choice != ExchangeChoice::fastest) shape.form = exchange_forms[static_cast<std::size_t>(choice) - 1];
    return shape;
}

void MoeLayerBuilder::exchange(LocalCollectiveKind kind, Hiding hiding, std::size_t partner) {
    const bool goes_out = kind == LocalCollectiveKind::dispatch;
    LocalCollective collective;
    collective.hiding = hiding;
    collective.partner = partner;
    collective.first = training_.technique.stream_first;
    collective.chunk = training_.technique.stream_chunk;
    if (expert_ranks_ > 1) {
        collective.kind = kind;
        collective.exchange = exchange_shape(kind);
    } else if (expert_width_ > 1) {
        collective.kind = goes_out ? LocalCollectiveKind::all_gather : LocalCollectiveKind::reduce_scatter;
        collective.bytes = 2 * n_ * expert_width_ * h_;
    } else {
        return;
    }
    close(collective);
}

void MoeLayerBuilder::shared_first() {
    if (shared_ <= 0) return;
    const double tokens = by_heads() ? group_tokens_ : n_;
    projection("shared up", tokens, h_, 2 * shared_);
    swiglu("shared swiglu", tokens, shared_, custom_ ? 3 : 5, ExpertRows::none);
}

void MoeLayerBuilder::shared_second() {
    if (shared_ > 0) projection("shared down", by_heads() ? group_tokens_ : n_, shared_, h_);
}

void MoeLayerBuilder::shared_backward() {
    if (shared_ <= 0) return;
    const double tokens = by_heads() ? group_tokens_ : n_;
    projection("shared down dgrad", tokens, h_, shared_);
    if (again()) swiglu("shared swiglu again", tokens, shared_, custom_ ? 3 : 5, ExpertRows::none);
    weight_gradient("shared down wgrad", shared_, h_, tokens);
    swiglu("shared swiglu backward", tokens, shared_, custom_ ? 5 : 8, ExpertRows::none);
    projection("shared up dgrad", tokens, 2 * shared_, h_);
    weight_gradient("shared up wgrad", h_, 2 * shared_, tokens);
}

// A shared expert that is cut over the tensor group needs the gathered tokens, so that nothing is left beside.
void MoeLayerBuilder::experts_forward() {
    const bool under = beside() && shared_ > 0 && (!by_heads() || t_ == 1);
    const bool fused = !under && rows_hiding() != Hiding::none;
    if (expert_ranks_ > 1) permute("permute");
    if (under) {
        const std::size_t first = mark();
        shared_first();
        exchange(LocalCollectiveKind::dispatch, Hiding::under, first);
    } else if (!fused) {
        exchange(LocalCollectiveKind::dispatch, Hiding::none, 0);
    }
    if (expert_ranks_ <= 1) permute("permute");
    const std::size_t product = mark();
    expert_product("expert up", h_, 2 * inner_);
    if (fused) exchange(LocalCollectiveKind::dispatch, rows_hiding(), product);
    if (!under) shared_first();
    swiglu("swiglu", rows_, inner_, custom_ ? 3 : 5, ExpertRows::bytes);
    if (!under) shared_second();
    const std::size_t down = mark();
    expert_product("expert down", inner_, h_);
    if (expert_ranks_ <= 1) unpermute("unpermute");
    if (under) {
        const std::size_t second = mark();
        shared_second();
        exchange(LocalCollectiveKind::combine, Hiding::under, second);
    } else {
        exchange(LocalCollectiveKind::combine, rows_hiding(), down);
    }
    if (expert_ranks_ > 1) unpermute("unpermute");
}

void MoeLayerBuilder::experts_backward() {
    const bool under = beside() && shared_ > 0 && (!by_heads() || t_ == 1);
    const bool fused = !under && rows_hiding() != Hiding::none;
    if (expert_ranks_ > 1) unpermute("unpermute backward");
    if (under) {
        const std::size_t first = mark();
        shared_backward();
        exchange(LocalCollectiveKind::dispatch, Hiding::under, first);  // gradients of the results
    } else {
        if (!fused) exchange(LocalCollectiveKind::dispatch, Hiding::none, 0);
        shared_backward();
    }
    if (expert_ranks_ <= 1) unpermute("unpermute backward");
    std::size_t second = mark();
    expert_product("expert down dgrad", h_, inner_);
    if (fused) {
        exchange(LocalCollectiveKind::dispatch, rows_hiding(), second);
        second = 0;
    }
    if (again()) {  // the rows that the weight gradient of the first product needs
        swiglu("swiglu again", rows_, inner_, custom_ ? 3 : 5, ExpertRows::bytes);
        permute("permute again");
        exchange(LocalCollectiveKind::dispatch, beside() ? Hiding::under : rows_hiding(), second);
    }
    const std::size_t third = mark();
    swiglu("swiglu backward", rows_, inner_, custom_ ? 5 : 8, ExpertRows::bytes);
    expert_product("expert up dgrad", 2 * inner_, h_);
    if (expert_ranks_ <= 1) permute("permute backward");
    const std::size_t weights = mark();
    if (!beside()) exchange(LocalCollectiveKind::combine, rows_hiding(), third);  // gradients of the rows
    expert_weight_gradient("expert down wgrad", inner_, h_);
    expert_weight_gradient("expert up wgrad", h_, 2 * inner_);
    if (beside()) exchange(LocalCollectiveKind::combine, Hiding::under, weights);
    if (expert_ranks_ > 1) permute("permute backward");
}

}  // namespace rehearse

#include "models/workload/layer_builder.hpp"

#include "models/workload/flops.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {

LayerBuilder::LayerBuilder(const TrainingSpec& training, Work& work)
    : SegmentWriter(work), training_(training), costs_(element_costs(training.technique.operators, training.dropout)) {
    const ModelSpec& model = training.model;
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    t_ = real(training.parallel.tensor);
    c_ = real(training.parallel.context);
    h_ = real(model.hidden);
    f_ = real(model.ffn_size());
    heads_ = real(model.heads) / t_;
    head_size_ = h_ / real(model.heads);
    s_ = real(model.sequence);
    batch_ = real(training.micro_batch);
    tokens_ = batch_ * s_ / c_;
    edge_tokens_ = is_on(training.parallel.sequence) ? tokens_ / t_ : tokens_;
    attended_ = effective_sequence(model, training.technique.window);
    // Materialised scores fill the whole square: plain batched products cannot skip the masked half. A window needs a
    // banded product, which computes the causal band 0 <= i - j < w alone.
    const bool banded = attended_ < s_;
    block_ = s_ / c_;
    scores_ = batch_ * heads_ * block_ * (banded ? attended_ / 2 : s_) / c_;
}

std::vector<LayerBuilder::Block> LayerBuilder::blocks() const {
    if (is_on(training_.technique.parallel_block)) return {{Core::both, (3 * h_ + f_) / t_, (h_ + f_) / t_}};
    return {{Core::attention, 3 * h_ / t_, h_ / t_}, {Core::mlp, f_ / t_, f_ / t_}};
}

void LayerBuilder::forward() {
    for (const Block& block : blocks()) block_forward(block);
}

void LayerBuilder::backward() {
    const std::vector<Block> all = blocks();
    for (std::size_t i = all.size(); i-- > 0;) block_backward(all[i]);
}

void LayerBuilder::block_forward(const Block& block) {
    passes("norm", costs_.norm_forward, edge_tokens_ * h_);
    column_product(block.column);
    core_forward(block.core);
    row_product(block.row);
    passes("residual", costs_.residual_forward, edge_tokens_ * h_);
}

// All-gather (with sequence parallelism) and column-parallel product: chunked together, or one after the other.
void LayerBuilder::column_product(double n_out) {
    const bool gathers = is_on(training_.parallel.sequence) && t_ > 1;
    const bool chunked = is_on(training_.technique.overlap_tensor);
    if (gathers && !chunked) sync_activation(LocalCollectiveKind::all_gather, Hiding::none);
    gemm("column", tokens_, n_out, h_);
    if (gathers && chunked) sync_activation(LocalCollectiveKind::all_gather, Hiding::chunked);
}

void LayerBuilder::row_product(double k_in) {
    gemm("row", tokens_, h_, k_in);
    if (t_ <= 1) return;
    const Hiding hiding = is_on(training_.technique.overlap_tensor) ? Hiding::chunked : Hiding::none;
    sync_activation(is_on(training_.parallel.sequence) ? LocalCollectiveKind::reduce_scatter
                                                       : LocalCollectiveKind::all_reduce, hiding);
}

void LayerBuilder::block_backward(const Block& block) {
    const bool sequence = is_on(training_.parallel.sequence) && t_ > 1;
    const bool chunked = is_on(training_.technique.overlap_tensor);
    passes("residual backward", costs_.residual_backward, edge_tokens_ * h_);
    if (sequence && !chunked) sync_activation(LocalCollectiveKind::all_gather, Hiding::none);
    gemm("row dgrad", tokens_, block.row, h_);
    if (sequence && chunked) sync_activation(LocalCollectiveKind::all_gather, Hiding::chunked);
    gemm("row wgrad", block.row, h_, tokens_, 8);
    core_backward(block.core);
    gemm("column dgrad", tokens_, h_, block.column);
    if (sequence) sync_activation(LocalCollectiveKind::all_gather, Hiding::under);
    gemm("column wgrad", block.column, h_, tokens_, 8);
    if (sequence) sync_activation(LocalCollectiveKind::reduce_scatter, Hiding::under);
    if (!sequence && t_ > 1) sync_activation(LocalCollectiveKind::all_reduce, chunked ? Hiding::under : Hiding::none);
    passes("norm backward", costs_.norm_backward, edge_tokens_ * h_);
}

void LayerBuilder::core_forward(Core core) {
    if (core != Core::mlp) attention_forward();
    if (core != Core::attention) passes("gelu", costs_.gelu_forward, tokens_ * f_ / t_);
}

void LayerBuilder::core_backward(Core core) {
    if (core != Core::attention) passes("gelu backward", costs_.gelu_backward, tokens_ * f_ / t_);
    if (core != Core::mlp) attention_backward();
}

void LayerBuilder::embedding_forward() {
    memory("embedding", 14 * tokens_ * h_, 3);  // look-up, position, dropout
    if (t_ > 1) {
        sync_activation(is_on(training_.parallel.sequence) ? LocalCollectiveKind::reduce_scatter
                                                           : LocalCollectiveKind::all_reduce, Hiding::none);
    }
}

void LayerBuilder::embedding_backward() { memory("embedding backward", 14 * tokens_ * h_, 3); }

void LayerBuilder::head_forward() {
    const double vocab = padded_vocab(training_) / t_;
    passes("final norm", costs_.norm_forward, edge_tokens_ * h_);
    if (is_on(training_.parallel.sequence) && t_ > 1) sync_activation(LocalCollectiveKind::all_gather, Hiding::none);
    gemm("logits", tokens_, vocab, h_);
    memory("loss", (t_ > 1 ? costs_.loss_forward_bytes : 16) * tokens_ * vocab, t_ > 1 ? 8 : 3);
    if (t_ > 1)
        close(LocalCollectiveKind::all_reduce, 3 * 4 * tokens_, Hiding::none, last());  // max, sum, target logit
}

void LayerBuilder::head_backward() {
    const double vocab = padded_vocab(training_) / t_;
    memory("loss backward", (t_ > 1 ? costs_.loss_backward_bytes : 8) * tokens_ * vocab, t_ > 1 ? 4 : 2);
    gemm("logits dgrad", tokens_, h_, vocab);
    gemm("logits wgrad", vocab, h_, tokens_, 8);
    if (t_ > 1) {
        sync_activation(is_on(training_.parallel.sequence) ? LocalCollectiveKind::reduce_scatter
                                                           : LocalCollectiveKind::all_reduce, Hiding::none);
    }
    passes("final norm backward", costs_.norm_backward, edge_tokens_ * h_);
}

void LayerBuilder::sync_activation(LocalCollectiveKind kind, Hiding hiding) {
    close(kind, 2 * tokens_ * h_, hiding, last());
}

}  // namespace rehearse

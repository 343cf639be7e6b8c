// MoeLayerBuilder: appends the segments of one layer of a mixture-of-experts model for one micro-batch on one rank.
//
// Shapes. A rank holds n = b s / (t c) tokens between the blocks, its tensor group N = n t. Attention cut by heads:
// all-gather of N h, projections (N x out / t), kernel, output projection, reduce-scatter (Megatron-LM with sequence
// parallelism). Cut by sequence (Ulysses): projections (n x out), all-to-all of n out elements, the same kernel over
// N tokens and a / t heads, all-to-all of n a d, output projection.
// Experts: X = E / e on a rank, each cut by e_t; a rank gets rows = n e_t k on average, in X grouped products of
// rows / X by 2 f / e_t by h and back. Rows travel by dispatch and combine over the e ranks (e > 1); with e = 1 the
// tokens are all-gathered over the e_t ranks and the results reduce-scattered.
//
// Per layer, forward:  norm, projections, [sync], attention kernel, [sync], output, residual;
//                      norm, gate, shared experts, permute, [dispatch], experts, [combine], un-permute, residual
// Backward runs it in reverse; every product has an input gradient and a weight gradient. With selective recomputation
// the backward computes norms, SwiGLU and permutation again and dispatches the rows again.
//
// overlap_operators puts collectives beside operators that don't depend on them: dispatch beside the shared experts'
// first product, combine beside their second; backward: combine beside the shared experts' gradients, the dispatch
// again beside the experts' second input gradient, dispatch beside the weight gradients, attention's first all-to-all
// beside the output projection's weight gradient. overlap_tiles fuses what is left with the product that feeds or
// follows it (fused), and permutes inside those kernels. A token stream (technique.stream_first) lets the experts
// work on rows as they arrive: what overlap_tiles would fuse of the exchanges is streamed instead.
//
// Under DualPipe (paired_layer.cpp; t = c = 1) a layer forward and a layer backward of another micro-batch go side by
// side, in DeepSeek's order (profile-data, train.json), exchanges (left) beside operators (right):
//     combine(B)    attn(F)            the backward of combine moves rows as a dispatch does, that of dispatch as a
//     dispatch(F)   mlp(B)             combine; combine(B) begins beside attn(W) of the layer before
//     dispatch(B)   mlp(W), mlp(F)
//     combine(F)    attn(B), attn(W)
// B gives gradients of inputs, W of weights. Selective recomputation computes norms, SwiGLU and the up-projections of
// latent attention again; dispatched rows are kept.
#pragma once

#include <optional>

#include "models/workload/moe/moe_model.hpp"
#include "models/workload/segment_writer.hpp"

namespace rehearse {

class MoeLayerBuilder : public SegmentWriter {
public:
    MoeLayerBuilder(const TrainingSpec& training, Work& work);
    void forward(std::int64_t layer);
    void backward(std::int64_t layer);  // with selective recomputation where the training says so
    // DualPipe: a layer forward, a layer backward (with or without its weight gradients), or both side by side.
    void unit(std::optional<std::int64_t> forward, std::optional<std::int64_t> backward, Switch weights);
    void weights(std::int64_t layer);  // weight gradients alone

private:
    void attention_forward();
    void attention_backward();
    void attention_kernel(AttentionPhase phase);
    void mlp_forward(double inner);
    void mlp_backward(double inner);
    void gate_forward();
    void gate_backward();
    void experts_forward();
    void experts_backward();
    void shared_first();     // product up, SwiGLU
    void shared_second();    // product down
    void shared_backward();  // input and weight gradients
    void routed_rows(const char* name, double passes);  // a memory-bound kernel over the rank's rows, h wide
    void permute(const char* name);
    void unpermute(const char* name);
    void weight_gradient(const char* name, double in, double out, double rows);
    void swiglu(const char* name, double rows, double width, double passes, ExpertRows scaled);
    void projection(const char* name, double rows, double in, double out);
    void expert_product(const char* name, double in, double out);
    void expert_weight_gradient(const char* name, double in, double out);

    // paired_layer.cpp
    void paired_attention_forward(std::int64_t layer);
    void paired_attention_backward(std::int64_t layer);
    void paired_attention_weights(std::int64_t layer);
    void paired_mlp_forward(std::int64_t layer);
    void paired_mlp_backward(std::int64_t layer);
    void paired_mlp_weights(std::int64_t layer);
    void quantise(const char* name, double elements);
    void rows_moved(const char* name, double bytes_per_element);
    void grouped(const char* name, double in, double out);
    void grouped_weights(const char* name, double in, double out);
    void product(const char* name, double in, double out);
    void product_weights(const char* name, double in, double out);
    void recomputing_swiglu_backward(const char* name, double elements, ExpertRows scaled);
    void latent_up_projections();
    void attention_gradient_kernels();
    bool joins(std::int64_t layer) const { return layer >= model_.layers; }  // of ModelSpec::extra_tokens
    void paired_exchange(LocalCollectiveKind kind, Switch cached, std::size_t partner, std::size_t early);

    void sync(LocalCollectiveKind kind, double bytes, Hiding hiding, std::size_t partner);
    void sync_tokens(LocalCollectiveKind kind, Hiding hiding);  // N h over the tensor group, beside the last operator
    void exchange(LocalCollectiveKind kind, Hiding hiding, std::size_t partner);
    ExchangeShape exchange_shape(LocalCollectiveKind kind) const;
    Hiding tiles() const { return is_on(training_.technique.overlap_tiles) ? Hiding::fused : Hiding::none; }
    // Of the exchange of rows with the product that follows or feeds it.
    Hiding rows_hiding() const { return training_.technique.stream_first > 0 ? Hiding::streamed : tiles(); }
    bool beside() const { return is_on(training_.technique.overlap_operators); }
    bool by_heads() const { return training_.parallel.attention == AttentionCut::heads; }
    bool is_fp8() const { return training_.precision == TrainingPrecision::fp8; }
    static constexpr double fp8_element = 1 + 4.0 / 128;  // bytes, with a scale for 128 of them
    bool again() const { return training_.recompute == Recompute::selective; }

    const TrainingSpec& training_;
    const ModelSpec& model_;
    ElementCosts costs_;
    bool custom_ = false;  // operators: efficient, with scatter and gather kernels of their own
    double t_, c_, h_, n_, group_tokens_;  // n, N
    double experts_ = 0, experts_here_ = 0, top_k_ = 0, inner_ = 0, shared_ = 0;  // E, X, k, f / e_t, E_s f (per rank)
    double expert_ranks_ = 1, expert_width_ = 1, rows_ = 0;                       // e, e_t
    std::size_t weights_from_ = LocalCollective::not_early;  // first operator of attn(W) in the segment before
};

}  // namespace rehearse

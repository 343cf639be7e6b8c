// LayerBuilder: appends the segments of one transformer layer, forward or backward, for one micro-batch on one rank.
//
// Shapes: n = b s / c tokens; with sequence parallelism norm, dropout and residual work on n / t of them.
// Column-parallel products are (n x N) from h, row-parallel ones (n x h) from K. A serial block has two sub-blocks
// (attention: N = 3 h / t, K = h / t; MLP: N = K = f / t), each with a norm and a residual. The parallel block (PTB)
// shares one norm, joins the column products (N = (3 h + f) / t) and the row products, and so halves the local
// collectives. Local collectives per sub-block, with sequence parallelism: forward all-gather before the column product
// and reduce-scatter after the row product; backward all-gather of dY before the row dgrad (blocks), re-gather of the
// input beside the column dgrad, reduce-scatter of dX beside the column wgrad (Megatron-LM 285068c8). Without it: one
// all-reduce forward and one backward, both blocking.
//
// Context parallelism is ring attention (Liu et al., 2023; Megatron-LM's context parallelism): c steps, each with the
// queries of the rank and the keys and values of one block, and beside each step but the last the exchange that brings
// the next block. A rank sends 2 x 2 n h / t bytes per exchange forward (keys and values), twice that backward (their
// gradients travel too). Every rank holds two mirrored slices of the sequence, so that the causal mask leaves all of
// them equal work in every step. With a the attention of one step and e one exchange, a pass takes
//     a + (c - 1) max(a, e), and what hidden exchanges take of the multiprocessors (price.hpp).
#pragma once

#include "models/workload/segment_writer.hpp"
#include "models/workload/spec.hpp"

namespace rehearse {

class LayerBuilder : public SegmentWriter {
public:
    LayerBuilder(const TrainingSpec& training, Work& work);
    void forward();
    void backward();           // without recomputation
    void recompute_attention();  // selective recomputation: scores and softmax again
    void embedding_forward();
    void embedding_backward();
    void head_forward();
    void head_backward();

private:
    enum class Core : std::uint8_t { attention, mlp, both };
    struct Block {
        Core core;
        double column, row;  // widths N and K on this rank
    };

    std::vector<Block> blocks() const;
    void block_forward(const Block& block);
    void block_backward(const Block& block);
    void core_forward(Core core);
    void core_backward(Core core);
    void attention_forward();
    void attention_backward();
    template <class Step>
    void ring(double tensors, const Step& step);  // tensors: of n h / t elements in one exchange
    void fused_step(AttentionPhase phase);
    void column_product(double n_out);
    void row_product(double k_in);

    void score_gemm(const char* name, double m, double n, double k);
    void sync_activation(LocalCollectiveKind kind, Hiding hiding);

    const TrainingSpec& training_;
    ElementCosts costs_;
    double t_, c_, h_, f_, heads_, head_size_, s_, batch_;
    double tokens_;       // n
    double edge_tokens_;  // tokens of norm, dropout and residual
    double attended_;     // mean attended length doubled (s_eff)
    double block_;        // rows and columns of scores in one ring step: s / c
    double scores_;       // scores that are computed in one ring step, all heads of the rank
};

}  // namespace rehearse

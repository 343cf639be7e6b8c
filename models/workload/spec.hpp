// What is trained and how it is cut up. Plain data: read by scenarios/, turned into programs by build_workload().
// Symbols follow the literature: l layers, h hidden, a heads, s sequence, V vocabulary, b micro-batch,
// t tensor, p pipeline, v virtual stages per pipeline rank, d data, c context degree, m micro-batches per replica.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/workload/routing/routing.hpp"
#include "sim/base/switch.hpp"

namespace rehearse {

enum class ModelKind : std::uint8_t {
    gpt,  // layer norm, biases, GeLU, multi-head attention, output layer tied to the embedding
    moe,  // RMS norm, no biases, SwiGLU, grouped-query or latent attention, routed experts, output layer of its own
};

// The experts of a mixture-of-experts layer (models/workload/moe).
struct ExpertSpec {
    std::int64_t routed = 0;
    std::int64_t shared = 0;        // run for every token, of the same width, never dispatched
    std::int64_t top_k = 1;
    std::int64_t ffn = 0;           // inner size of one expert; 0 = the model's
    std::int64_t node_limit = 0;    // nodes that a token's experts may stand on; 0 = any (DeepSeek-V3: 4)
    std::int64_t dense_layers = 0;  // the first so many layers have an MLP of the model's `ffn` instead
};

// Multi-head latent attention (DeepSeek-V2): low-rank queries and keys; sizes per head where said.
struct LatentSpec {
    std::int64_t query_rank = 0;  // 0: none, plain grouped-query attention
    std::int64_t key_rank = 0;
    std::int64_t rope = 0;        // per head, of queries and keys beside head_size
};

struct ModelSpec {
    ModelKind kind = ModelKind::gpt;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;  // 0 = heads
    std::int64_t head_size = 0; // 0 = h / a
    std::int64_t ffn = 0;       // inner size of the MLP; 0 = 4 h
    std::int64_t vocab = 0;
    std::int64_t sequence = 0;
    ExpertSpec experts{};       // kind moe
    LatentSpec latent{};        // kind moe
    std::int64_t extra_tokens = 0;  // kind moe: modules behind the last layer that predict one token more each
                                    // (multi-token prediction, DeepSeek-V3): two norms, a product 2 h to h, a layer,
                                    // the shared output layer; neither parameters nor model FLOPs count them
    std::int64_t ffn_size() const { return ffn > 0 ? ffn : 4 * hidden; }
    std::int64_t expert_ffn() const { return experts.ffn > 0 ? experts.ffn : ffn_size(); }
    std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
    std::int64_t head_width() const { return head_size > 0 ? head_size : hidden / heads; }
    // gpt: transformer weights and biases, embedding and final norm. moe: models/workload/moe/moe_model.hpp.
    double parameters() const;
};

enum class Dimension : std::uint8_t { tensor, context, data, pipeline };
std::string_view name(Dimension dimension);

// What the tensor group cuts in attention.
enum class AttentionCut : std::uint8_t {
    heads,     // tensor parallelism: weights and heads
    sequence,  // DeepSpeed-Ulysses: tokens; weights are whole on each rank, an all-to-all turns token shards into head
               // shards around the attention kernel
};

enum class PipelineSchedule : std::uint8_t {
    one_f_one_b,  // schedule.hpp, interleaved where there are virtual stages
    dual_pipe,    // dual_pipe.hpp: fed from both ends, every rank holds two chunks of the model
};

struct ParallelSpec {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t virtual_stages = 1;
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    std::int64_t last_stage_layers = 0;  // kind moe, virtual_stages = 1; 0 = as many as the others have
    std::int64_t data = 1;
    std::int64_t context = 1;
    Switch sequence = Switch::off;  // sequence parallelism inside the tensor group (Korthikanti et al., 2022)
    AttentionCut attention = AttentionCut::heads;
    std::int64_t expert = 1;        // ranks that an MoE layer's experts are spread over
    std::int64_t expert_tensor = 0; // ranks that cut one expert; 0 = tensor. With `expert` a grid of its own (folding):
                                    // expert x expert_tensor consecutive ranks of a stage hold all experts once
    std::int64_t zero = 0;          // 0 none, 1 optimizer state sharded, 2 gradients too (Rajbhandari et al., SC'20)
    // Fastest-varying dimension first. Megatron-LM: tensor, then data, then pipeline.
    std::array<Dimension, 4> rank_order{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
    std::int64_t ranks() const { return tensor * pipeline * data * context; }
    std::int64_t expert_width() const { return expert_tensor > 0 ? expert_tensor : tensor; }
    std::int64_t expert_span() const { return expert * expert_width(); }
    bool is_dual() const { return schedule == PipelineSchedule::dual_pipe; }
    std::int64_t chunks() const { return is_dual() ? 2 : virtual_stages; }  // of the model, on a rank
    std::int64_t copies() const { return is_dual() ? 2 : 1; }               // ranks of a pipeline that hold a chunk
};

// gpt: `selective` computes scores and softmax again. moe: it computes norms, SwiGLU and the permutation again and
// dispatches again, so that neither their results nor the dispatched rows are kept; under DualPipe it keeps the rows
// and computes the up-projections of latent attention again.
enum class Recompute : std::uint8_t { none, selective, full };
enum class TrainingPrecision : std::uint8_t { bf16, fp8 };  // fp8: projections and experts of kind moe
enum class OperatorSet : std::uint8_t {
    unfused,    // attention as matrix products around a fused softmax; layer norm and GeLU in several kernels
    fused,      // the same attention; layer norm and GeLU one kernel each
    efficient,  // FlashAttention-2; layer norm and GeLU one kernel each (MegaScale section 3.3)
};

// collectives/expert_exchange.hpp has the forms, in this order.
enum class ExchangeChoice : std::uint8_t { fastest, direct, gather, hierarchical, ring, tree };

// One switch per MegaScale technique (NSDI'24, section 3).
struct TechniqueSpec {
    Switch parallel_block = Switch::off;    // attention and MLP side by side
    std::int64_t window = 0;                // sliding-window attention, tokens; 0 = full causal attention
    Switch overlap_tensor = Switch::off;    // tensor collectives chunked and fused with their GEMMs
    Switch overlap_pipeline = Switch::off;  // pipeline send and receive decoupled and asynchronous
    Switch overlap_data = Switch::off;      // all-gather prefetched, reduce-scatter under backward
    OperatorSet operators = OperatorSet::unfused;
    Switch overlap_input = Switch::off;     // data pipeline: loading under gradient synchronisation, tree loader,
                                            // manual garbage collection
    Switch overlap_operators = Switch::off; // MoE: collectives beside operators that do not depend on them
    Switch overlap_tiles = Switch::off;     // MoE: collectives fused with their GEMM tile by tile, with no permutation
                                            // kernels of their own
    ExchangeChoice exchange = ExchangeChoice::fastest;  // MoE: form of dispatch and combine
    double stream_chunk = 1;  // MoE: part of the rows of an average rank that a token stream holds at a time
    double stream_first = 0;  // MoE: part of a dispatch that arrives before its rows are worked on; 0: rows
                              // wait for all of it (runtime/moe sets it from the token stream)
    std::int64_t batch_factor = 1;          // LAMB: the step takes that many times the global batch
};

// Ranks that hold the same dense parameters, and the same experts.
inline std::int64_t data_shards(const ParallelSpec& parallel) {
    return parallel.data * parallel.context * parallel.copies() *
           (parallel.attention == AttentionCut::sequence ? parallel.tensor : 1);
}
inline std::int64_t expert_shards(const ParallelSpec& parallel) {
    return parallel.tensor * parallel.context * parallel.data * parallel.copies() / parallel.expert_span();
}

enum class CapacityScope : std::uint8_t { expert, gpu };  // gpu: all experts of a GPU together (MegaScale-MoE)
struct CapacitySpec {
    double factor = 0;  // of an even share; 0: dropless
    CapacityScope scope = CapacityScope::expert;
};

struct TrainingSpec {
    ModelSpec model;
    std::int64_t batch_global = 1;          // sequences per step before the LAMB factor
    std::int64_t micro_batch = 1;           // sequences
    ParallelSpec parallel;
    TechniqueSpec technique;
    RoutingSpec routing{.kind = RoutingKind::balanced,
                        .groups = {},
                        .recorded = {},
                        .source = {},
                        .trace_top_k = 0,
                        .skipped = {}};                                                // kind moe
    CapacitySpec capacity{};                                                           // kind moe
    Recompute recompute = Recompute::none;
    TrainingPrecision precision = TrainingPrecision::bf16;
    std::int64_t gradient_bytes = 2;        // per gradient element on the wire: 1 fp8, 2 half, 4 fp32 reduction
    Switch dropout = Switch::off;           // in attention and after each row-parallel product
    std::int64_t batch() const { return batch_global * technique.batch_factor; }
    std::int64_t micro_batches() const { return batch() / (micro_batch * parallel.data); }  // m
};

}  // namespace rehearse

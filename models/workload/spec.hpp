// What is trained and how it is cut up. Plain data: read by scenarios/, turned into programs by build_workload().
// Symbols follow the literature: l layers, h hidden, a heads, s sequence, V vocabulary, b micro-batch,
// t tensor, p pipeline, v virtual stages per pipeline rank, d data, c context degree, m micro-batches per replica.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/switch.hpp"

namespace rehearse {

struct ModelSpec {
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t ffn = 0;       // inner size of the MLP; 0 = 4 h
    std::int64_t vocab = 0;
    std::int64_t sequence = 0;
    std::int64_t ffn_size() const { return ffn > 0 ? ffn : 4 * hidden; }
    // Transformer weights and biases, embedding and final norm; the output layer shares the embedding (GPT).
    double parameters() const;
};

enum class Dimension : std::uint8_t { tensor, context, data, pipeline };
std::string_view name(Dimension dimension);

struct ParallelSpec {
    std::int64_t tensor = 1;
    std::int64_t pipeline = 1;
    std::int64_t virtual_stages = 1;
    std::int64_t data = 1;
    std::int64_t context = 1;
    Switch sequence = Switch::off;  // sequence parallelism inside the tensor group (Korthikanti et al., 2022)
    std::int64_t zero = 0;          // 0 none, 1 optimizer state sharded, 2 gradients too (Rajbhandari et al., SC'20)
    // Fastest-varying dimension first. Megatron-LM: tensor, then data, then pipeline.
    std::array<Dimension, 4> rank_order{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
    std::int64_t ranks() const { return tensor * pipeline * data * context; }
};

enum class Recompute : std::uint8_t { none, selective, full };
enum class OperatorSet : std::uint8_t {
    unfused,    // attention as matrix products around a fused softmax; layer norm and GeLU in several kernels
    fused,      // the same attention; layer norm and GeLU one kernel each
    efficient,  // FlashAttention-2; layer norm and GeLU one kernel each (MegaScale section 3.3)
};

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
    std::int64_t batch_factor = 1;          // LAMB: the step takes that many times the global batch
};

struct TrainingSpec {
    ModelSpec model;
    std::int64_t batch_global = 1;          // sequences per step before the LAMB factor
    std::int64_t micro_batch = 1;           // sequences
    ParallelSpec parallel;
    TechniqueSpec technique;
    Recompute recompute = Recompute::none;
    std::int64_t gradient_bytes = 2;        // per gradient element on the wire: 2 half, 4 fp32 reduction
    Switch dropout = Switch::off;           // in attention and after each row-parallel product
    std::int64_t batch() const { return batch_global * technique.batch_factor; }
    std::int64_t micro_batches() const { return batch() / (micro_batch * parallel.data); }  // m
};

}  // namespace rehearse

// The works of a model: what one rank computes and which local collectives it joins, per pipeline chunk.
#pragma once

#include "models/workload/operators.hpp"
#include "models/workload/schedule.hpp"
#include "models/workload/spec.hpp"

namespace rehearse {

// What stands at the ends of a chunk beside its layers.
struct ChunkEnds {
    bool embedding = false;  // first chunk of the first stage
    bool head = false;       // last chunk of the last stage: final norm, logits, loss
};

struct LayerRange {
    std::int64_t first = 0, count = 0;
};

// Layers of one of the p v consecutive parts of the model; what does not divide makes the first ones one layer longer.
// The last one has those of ModelSpec::extra_tokens behind its own.
LayerRange chunk_layers(const TrainingSpec& training, std::int64_t block);

// Forward (or backward, with its recomputation) of these layers for one micro-batch.
Work chunk_work(const TrainingSpec& training, Phase phase, LayerRange layers, ChunkEnds ends);

// Parameters that one rank holds of some layers, and of the embedding (or output) matrix.
struct ParameterShare {
    double dense = 0;    // sharded over data_shards()
    double experts = 0;  // routed ones; over expert_shards()
};
ParameterShare parameters_per_rank(const TrainingSpec& training, LayerRange layers);
double embedding_parameters_per_rank(const TrainingSpec& training);

// Vocabulary as the output layer holds it: Megatron-LM pads to a multiple of 128 t when it is cut by t > 1.
double padded_vocab(const TrainingSpec& training);

// Optimizer of one rank over its (sharded) parameters; the host-side costs of a step.
Work optimizer_work(const TrainingSpec& training, const ParameterShare& parameters);
Work host_work(HostCost cost);
Work fixed_work(double seconds);  // host time that no profile prices

}  // namespace rehearse

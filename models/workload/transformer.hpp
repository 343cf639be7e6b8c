// The works of a dense GPT: what one rank computes and which local collectives it joins, per pipeline chunk.
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

// Forward (or backward, with its recomputation) of `layers` layers for one micro-batch.
Work chunk_work(const TrainingSpec& training, Phase phase, std::int64_t layers, ChunkEnds ends);

// Parameters that one rank of the local group holds: per layer; embedding (or output) matrix share.
double layer_parameters_per_rank(const TrainingSpec& training);
double embedding_parameters_per_rank(const TrainingSpec& training);

// Vocabulary as the output layer holds it: Megatron-LM pads to a multiple of 128 t when it is cut by t > 1.
double padded_vocab(const TrainingSpec& training);

// Optimizer of one rank over its (sharded) parameters; the host-side costs of a step.
Work optimizer_work(const TrainingSpec& training, double parameters_on_rank);
Work host_work(HostCost cost);

}  // namespace rehearse

// The works of DualPipe: chunks of a mixture of experts forward, backward, and one of each side by side.
#pragma once

#include "models/workload/dual_pipe.hpp"
#include "models/workload/transformer.hpp"

namespace rehearse {

struct ChunkPart {
    LayerRange layers;
    ChunkEnds ends;
};

// `forward` acts on forward and pair, `backward` on all others and pair. The output layer's weight gradient comes with
// its input gradient, and is no part of DualWork::weights.
std::string_view name(DualWork kind);  // of its works
Work dual_work(const TrainingSpec& training, DualWork kind, const ChunkPart& forward, const ChunkPart& backward);

}  // namespace rehearse

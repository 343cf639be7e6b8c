// Memory under DualPipe: a rank holds the parameters of two chunks, and the activations of at most p + 1 (micro-batch,
// chunk) pairs, from a forward to its weight gradients. They are counted by playing the rank's passes.
#pragma once

#include "models/workload/memory.hpp"

namespace rehearse {

MemoryReport dual_stage_memory(const TrainingSpec& training, std::uint32_t rank_of_pipeline, ExpertMemory experts);

}  // namespace rehearse

// Memory of one GPU, by what it holds. The fullest pipeline stage decides.
#pragma once

#include <cstdint>

#include "models/workload/spec.hpp"
#include "sim/base/units.hpp"

namespace rehearse {

struct MemoryReport {
    Bytes weights;      // 2 B per parameter; of experts the resident part
    Bytes gradients;    // fp32 accumulation buffers, 4 B (sharded by d with ZeRO-2: see memory.cpp)
    Bytes optimizer;    // fp32 master weights and two moments: 12 B per parameter, sharded by d from ZeRO-1 on
    Bytes activations;  // by schedule and recomputation (Korthikanti et al., 2022)
    Bytes workspace;    // logits of the last stage, communication buffers
    std::uint32_t stage = 0;
    Bytes total() const { return weights + gradients + optimizer + activations + workspace; }
};

// `resident_experts`: part of the routed experts' weights in GPU memory; a pager keeps the rest in the host's.
// Gradients and optimizer state are not paged.
MemoryReport estimate_memory(const TrainingSpec& training, double resident_experts = 1);

}  // namespace rehearse

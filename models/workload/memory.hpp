// Memory of one GPU, by what it holds. The fullest pipeline stage decides.
#pragma once

#include <cstdint>

#include "models/workload/moe/expert_loads.hpp"
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

// `experts`: what the policies make of the rank's share of the routed experts. A pager keeps a part of the weights in
// the host's memory; gradients and optimizer state are not paged. Replicas have weights and gradients of their own.
MemoryReport estimate_memory(const TrainingSpec& training, ExpertMemory experts = {});

}  // namespace rehearse

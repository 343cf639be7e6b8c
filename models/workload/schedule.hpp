// Pipeline schedules: in which order a stage runs the forward and backward passes of its chunks.
//
// v = 1: 1F1B (Narayanan et al., SOSP'19). v > 1: interleaved 1F1B (Narayanan et al., SC'21): micro-batches go through
// the chunks in groups of p, a stage warms up with 2 (p - stage - 1) + (v - 1) p forwards (all of them when m = p),
// then alternates, then drains. Bubble with equal stages and free communication: (p - 1) / (v m) of ideal compute.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

enum class Phase : std::uint8_t { forward, backward };

struct Pass {
    Phase phase;
    std::uint32_t chunk;        // 0 .. v-1; the global layer block is chunk * p + stage
    std::uint32_t micro_batch;  // 0 .. m-1
};

struct StageSchedule {
    std::vector<Pass> passes;      // 2 m v of them
    std::uint32_t warmup = 0;      // forwards before the first backward
};

// Needs m >= 1, and for v > 1 that p divides m (checked).
StageSchedule build_schedule(std::uint32_t stage, std::uint32_t stages, std::uint32_t chunks,
                             std::uint32_t micro_batches);

}  // namespace rehearse

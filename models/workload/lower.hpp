// Lowering: schedule + techniques -> the program of one stage.
#pragma once

#include <vector>

#include "models/workload/program.hpp"
#include "models/workload/workload.hpp"

namespace rehearse {

// Indices into Workload::works and Workload::collectives that the programs refer to.
struct StageIndex {
    std::vector<std::uint32_t> forward, backward;      // work per chunk
    std::vector<std::uint32_t> backward_input, weights, pair;  // DualPipe; a pair by the chunk of its forward
    std::uint32_t optimizer = 0, exchange = 0, input = 0, step = 0;
    std::vector<std::uint32_t> gather, scatter;        // group collectives: per chunk (overlapped) or one for all
    std::vector<std::uint32_t> expert_gather, expert_scatter;  // the same for experts; empty: one rank holds them
    std::uint32_t norm = 0, embedding_reduce = 0;
    struct Wait {
        std::uint32_t work = 0;
        Part part = Part::other;
    };
    std::vector<Wait> policies;                        // at the beginning of the step, blocking
};

Program lower_stage(const TrainingSpec& training, std::uint32_t stage, const StageIndex& index);

}  // namespace rehearse

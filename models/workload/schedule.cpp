#include "models/workload/schedule.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// k-th forward (or backward) of a stage: groups of p micro-batches walk through the chunks, backwards in reverse.
Pass nth_pass(Phase phase, std::uint32_t k, std::uint32_t stages, std::uint32_t chunks) {
    const std::uint32_t in_group = k % (stages * chunks);
    const std::uint32_t chunk = in_group / stages;
    const std::uint32_t micro_batch = k / (stages * chunks) * stages + in_group % stages;
    return {phase, phase == Phase::forward ? chunk : chunks - 1 - chunk, micro_batch};
}

}  // namespace

StageSchedule build_schedule(std::uint32_t stage, std::uint32_t stages, std::uint32_t chunks,
                             std::uint32_t micro_batches) {
    REHEARSE_CHECK(stage < stages && chunks >= 1 && micro_batches >= 1, "schedule of an empty pipeline");
    REHEARSE_CHECK(chunks == 1 || micro_batches % stages == 0, "interleaving needs m to be a multiple of p");
    const std::uint32_t total = chunks * micro_batches;
    const std::uint32_t unit = chunks == 1 ? 1 : stages;  // 1F1B walks one micro-batch at a time
    std::uint32_t warmup = chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
    if (chunks > 1 && micro_batches == stages) warmup = total;
    warmup = std::min(warmup, total);

    StageSchedule schedule;
    schedule.warmup = warmup;
    schedule.passes.reserve(2 * total);
    for (std::uint32_t k = 0; k < total; ++k) {
        schedule.passes.push_back(nth_pass(Phase::forward, k, unit, chunks));
        if (k >= warmup) schedule.passes.push_back(nth_pass(Phase::backward, k - warmup, unit, chunks));
    }
    for (std::uint32_t k = total - warmup; k < total; ++k) {
        schedule.passes.push_back(nth_pass(Phase::backward, k, unit, chunks));
    }
    return schedule;
}

}  // namespace rehearse

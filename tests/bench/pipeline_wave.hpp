// The traffic of a pipeline-parallel training step on a whole cluster: in every wave each GPU sends one activation to
// the GPU an eighth of the cluster further on (same rail), at a time jittered by N(0, jitter).
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/network/flow/flow_model.hpp"
#include "sim/base/rng.hpp"

namespace rehearse::bench {

struct WaveResult {
    std::size_t flows = 0;
    SimTime end;
    double fct_mean = 0;  // seconds
    std::uint64_t hash = 0;
};

inline constexpr Bytes wave_message{6'291'456};  // 2048 tokens x 12288 x 2 B / 8 tensor ranks

// (time, GPU), ascending.
inline std::vector<std::pair<std::int64_t, std::uint32_t>> wave_starts(std::uint32_t gpus, std::uint64_t wave,
                                                                       SimDuration jitter) {
    const Stream draw(1, "pipeline_wave");
    std::vector<std::pair<std::int64_t, std::uint32_t>> starts;
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        const double late = std::max(0.0, 4.0 + draw.normal(gpu, wave));
        starts.emplace_back(static_cast<std::int64_t>(late * static_cast<double>(jitter.value)), gpu);
    }
    std::sort(starts.begin(), starts.end());
    return starts;
}

// Waves one after the other, the first from `begin` on.
inline WaveResult run_waves(FlowModel& model, std::uint32_t gpus, std::uint64_t waves, SimDuration jitter,
                            SimTime begin = SimTime{0}) {
    WaveResult result;
    result.end = begin;
    std::vector<Completion> done;
    std::vector<SimTime> began(gpus);
    for (std::uint64_t wave = 0; wave < waves; ++wave) {
        const SimTime base = result.end;
        for (const auto& [late, gpu] : wave_starts(gpus, wave, jitter)) {
            const SimTime at = base + SimDuration{late};
            if (late > 0) model.advance(SimTime{at.value - 1}, done);
            const std::array<GpuId, 2> pair{GpuId{gpu}, GpuId{(gpu + gpus / 8) % gpus}};
            TransferRequest request;
            request.gpus = pair;
            request.size = wave_message;
            request.group_key = gpu + 1;
            request.token = gpu;
            model.start(at, request);
            began[gpu] = at;
        }
        for (SimTime t = model.next_event_time(); t.value != INT64_MAX; t = model.next_event_time()) {
            model.advance(t, done);
        }
        for (const Completion& completion : done) {
            result.end = std::max(result.end, completion.at);
            result.fct_mean += (completion.at - began[completion.token]).seconds();
            result.hash = (result.hash ^ static_cast<std::uint64_t>(completion.at.value)) * 0x100000001B3ULL;
        }
        result.flows += done.size();
        done.clear();
    }
    result.fct_mean /= static_cast<double>(result.flows);
    return result;
}

}  // namespace rehearse::bench

// The shapes that `rehearse calibrate run` measures kernels and collectives at: small models of a mixture of experts
// that a live run works through with balanced routing, so that each kernel is measured as a step runs it, between the
// others and beside the other ranks. No scenario of the library has one of these shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/calibration/calibration_file.hpp"
#include "models/workload/workload.hpp"
#include "runtime/live/live_executor.hpp"

namespace rehearse {

struct SweepShape {
    std::int64_t hidden = 0, inner = 0, experts = 0, top_k = 1, tokens = 0;
    std::int64_t refills = 0;  // of the token stream; 0: none
};

enum class SweepSize : std::uint8_t { quick, full };  // quick: a few seconds, for tests
std::vector<SweepShape> sweep_shapes(SweepSize size);
TrainingSpec sweep_training(const SweepShape& shape, std::int64_t ranks);

// What a live run of the workload measured: one sample per kernel (or collective) and shape, with a time for each step,
// mean over the ranks and over the operations of the same kind and shape, as dispatch and combine are.
std::vector<CalibrationSample> samples_of(const LiveReport& report);
// The two probes at that pace, as samples.
std::vector<CalibrationSample> pace_samples(const Pace& pace);

}  // namespace rehearse

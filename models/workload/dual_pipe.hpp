// DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2; order of deepseek-ai/DualPipe): a pipeline that is fed from
// both of its ends. Each of the p ranks holds two chunks of the model, stage r for the micro-batches that enter at the
// first rank (lane 0) and stage p - 1 - r for those that enter at the last (lane 1); each lane takes m / 2 of them.
// Seen from a rank, chunk 0 is the one nearer to its own end of the pipeline, so that ranks r and p - 1 - r run the
// same passes.
//
// With h = min(r, p - 1 - r) and H = p / 2 a rank runs, numbers meaning chunks:
//   1  2 (H - h - 1) x  F0                     5  (H - h - 1) x  B1, F1&B0
//   2      (h + 1)   x  F0, F1                 6      (h + 1) x  B1, B0    the second half without weights
//   3    (H - h - 1) x  b1, W, F1              7  (H - h - 1) x  W, b0
//   4  (m/2 - p + h + 1) x  F0&B1, F1&B0       8      (h + 1) x  W
// F&B: a forward and a backward of the other lane as one unit. B: a whole backward; b: input gradients only, whose
// weight gradients W follow later, oldest first (zero bubble; Qi et al., ICLR'24). The two middle ranks take the first
// F0&B1 apart. With equal stages and free communication the rank that idles longest does so for
//     (p / 2 - 1) (F&B + B - 3 W)
// where B includes W, when F = B - W; a shorter F leaves less. 1F1B idles for (p - 1) (F + B).
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

enum class DualWork : std::uint8_t { forward, backward, backward_input, weights, pair };

struct DualPass {
    DualWork work = DualWork::forward;
    std::uint32_t chunk = 0;     // of the forward in a pair; its backward is of the other chunk
    std::uint32_t forward = 0;   // micro-batch of the forward within its lane
    std::uint32_t backward = 0;  // of the backward or of the weights

    bool has_forward() const { return work == DualWork::forward || work == DualWork::pair; }
    bool has_backward() const { return work != DualWork::forward && work != DualWork::weights; }
    bool has_weights() const { return work != DualWork::forward && work != DualWork::backward_input; }
    std::uint32_t backward_chunk() const { return work == DualWork::pair ? 1 - chunk : chunk; }
};

// p even, m even and m >= 2 p (checked).
std::vector<DualPass> build_dual_pipe(std::uint32_t stage, std::uint32_t stages, std::uint32_t micro_batches);

// Direction that a chunk of a rank belongs to, and the stage of the model that it is.
std::uint32_t lane_of(std::uint32_t rank, std::uint32_t stages, std::uint32_t chunk);
std::uint32_t model_stage_of(std::uint32_t rank, std::uint32_t stages, std::uint32_t chunk);

// Seconds that a rank idles, see above; `pair` is F&B.
double dual_pipe_bubble(std::uint32_t stages, double pair, double backward, double weights);

}  // namespace rehearse

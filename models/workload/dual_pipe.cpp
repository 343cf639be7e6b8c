#include "models/workload/dual_pipe.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

class DualSchedule {
public:
    void forward(std::uint32_t chunk) { passes_.push_back({DualWork::forward, chunk, next_forward_[chunk]++, 0}); }
    void backward(std::uint32_t chunk) { passes_.push_back({DualWork::backward, chunk, 0, next_backward_[chunk]++}); }
    void backward_input(std::uint32_t chunk) {
        kept_.emplace_back(chunk, next_backward_[chunk]);
        passes_.push_back({DualWork::backward_input, chunk, 0, next_backward_[chunk]++});
    }
    void weights() {
        const auto [chunk, micro_batch] = kept_.front();
        kept_.pop_front();
        passes_.push_back({DualWork::weights, chunk, 0, micro_batch});
    }
    void pair(std::uint32_t chunk) {
        passes_.push_back({DualWork::pair, chunk, next_forward_[chunk]++, next_backward_[1 - chunk]++});
    }
    std::vector<DualPass> take() { return std::move(passes_); }

private:
    std::vector<DualPass> passes_;
    std::array<std::uint32_t, 2> next_forward_{}, next_backward_{};
    std::deque<std::pair<std::uint32_t, std::uint32_t>> kept_;  // chunk and micro-batch of weight gradients to come
};

}  // namespace

std::vector<DualPass> build_dual_pipe(std::uint32_t stage, std::uint32_t stages, std::uint32_t micro_batches) {
    REHEARSE_CHECK(stages >= 2 && stages % 2 == 0 && stage < stages, "DualPipe folds an even number of stages");
    REHEARSE_CHECK(micro_batches % 2 == 0 && micro_batches >= 2 * stages, "DualPipe takes an even m of at least 2 p");
    const std::uint32_t half = stages / 2, depth = std::min(stage, stages - 1 - stage);
    const std::uint32_t outer = half - depth - 1, inner = depth + 1;  // h = depth: H - h - 1 and h + 1
    const bool is_middle = outer == 0;
    DualSchedule schedule;
    for (std::uint32_t i = 0; i < 2 * outer; ++i) schedule.forward(0);
    for (std::uint32_t i = 0; i < inner; ++i) {
        schedule.forward(0);
        schedule.forward(1);
    }
    for (std::uint32_t i = 0; i < outer; ++i) {
        schedule.backward_input(1);
        schedule.weights();
        schedule.forward(1);
    }
    for (std::uint32_t i = 0; i < micro_batches / 2 - stages + inner; ++i) {
        if (is_middle && i == 0) {
            schedule.forward(0);
            schedule.backward(1);
        } else {
            schedule.pair(0);
        }
        schedule.pair(1);
    }
    for (std::uint32_t i = 0; i < outer; ++i) {
        schedule.backward(1);
        schedule.pair(1);
    }
    for (std::uint32_t i = 0; i < 2 * inner; ++i) {  // the last `inner` of them keep their weight gradients
        const std::uint32_t chunk = i % 2 == 0 ? 1 : 0;
        if (i < inner) schedule.backward(chunk);
        else schedule.backward_input(chunk);
    }
    for (std::uint32_t i = 0; i < outer; ++i) {
        schedule.weights();
        schedule.backward_input(0);
    }
    for (std::uint32_t i = 0; i < inner; ++i) schedule.weights();
    return schedule.take();
}

std::uint32_t lane_of(std::uint32_t rank, std::uint32_t stages, std::uint32_t chunk) {
    return rank < stages / 2 ? chunk : 1 - chunk;
}

std::uint32_t model_stage_of(std::uint32_t rank, std::uint32_t stages, std::uint32_t chunk) {
    return lane_of(rank, stages, chunk) == 0 ? rank : stages - 1 - rank;
}

double dual_pipe_bubble(std::uint32_t stages, double pair, double backward, double weights) {
    return (stages / 2.0 - 1) * (pair + backward - 3 * weights);
}

}  // namespace rehearse

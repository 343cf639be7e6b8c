// DualPipe: each stage of each lane passes every micro-batch once, in an order that ends, with the published bubble.
#include "models/workload/dual_pipe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

struct Shape {
    std::uint32_t stages, micro_batches;
};

class DualPipe : public testing::TestWithParam<Shape> {};

TEST_P(DualPipe, EveryChunkOfEveryMicroBatchPassesOnce) {
    const auto [p, m] = GetParam();
    for (std::uint32_t rank = 0; rank < p; ++rank) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> forward, backward, weights;
        for (const DualPass& pass : build_dual_pipe(rank, p, m)) {
            const std::pair back{pass.backward_chunk(), pass.backward};
            if (pass.has_forward()) {
                EXPECT_TRUE(forward.insert({pass.chunk, pass.forward}).second);
            }
            if (pass.has_backward()) {
                EXPECT_TRUE(forward.contains(back)) << "backward before its forward";
                EXPECT_TRUE(backward.insert(back).second);
            }
            if (pass.has_weights()) {
                EXPECT_TRUE(backward.contains(back)) << "weight gradients before input gradients";
                EXPECT_TRUE(weights.insert(back).second);
            }
        }
        EXPECT_EQ(forward.size(), m);
        EXPECT_EQ(backward.size(), m);
        EXPECT_EQ(weights.size(), m);
    }
}

TEST_P(DualPipe, MirroredRanksRunTheSamePasses) {
    const auto [p, m] = GetParam();
    for (std::uint32_t rank = 0; rank < p / 2; ++rank) {
        const std::vector<DualPass> here = build_dual_pipe(rank, p, m), there = build_dual_pipe(p - 1 - rank, p, m);
        ASSERT_EQ(here.size(), there.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            EXPECT_EQ(std::tuple(here[i].work, here[i].chunk, here[i].forward, here[i].backward),
                      std::tuple(there[i].work, there[i].chunk, there[i].forward, there[i].backward));
        }
        for (const std::uint32_t chunk : {0u, 1u}) {
            EXPECT_EQ(model_stage_of(rank, p, chunk), model_stage_of(p - 1 - rank, p, chunk));
            EXPECT_NE(lane_of(rank, p, chunk), lane_of(p - 1 - rank, p, chunk));
        }
    }
}

// Activations that a rank keeps at once: from a forward to its weight gradients. The paper: p + 1 of them.
TEST_P(DualPipe, KeepsOneActivationMoreThanStages) {
    const auto [p, m] = GetParam();
    std::int64_t most = 0;
    for (std::uint32_t rank = 0; rank < p; ++rank) {
        std::int64_t kept = 0;
        for (const DualPass& pass : build_dual_pipe(rank, p, m)) {
            kept += pass.has_forward() ? 1 : 0;
            most = std::max(most, kept);
            kept -= pass.has_weights() ? 1 : 0;
        }
        EXPECT_EQ(kept, 0);
    }
    EXPECT_EQ(most, p + 1);
}

struct Costs {
    std::int64_t forward, backward, weights, pair;  // backward includes weights

    std::int64_t of(const DualPass& pass) const {
        switch (pass.work) {
            case DualWork::forward: return forward;
            case DualWork::backward: return backward;
            case DualWork::backward_input: return backward - weights;
            case DualWork::weights: return weights;
            case DualWork::pair: return pair;
        }
        return 0;
    }
};

// Runs all ranks with free communication, each in its own order, and returns the end and the work of each.
class Playback {
public:
    Playback(Shape shape, Costs costs) : shape_(shape), costs_(costs) {
        for (std::uint32_t rank = 0; rank < shape.stages; ++rank)
            passes_.push_back(build_dual_pipe(rank, shape.stages, shape.micro_batches));
        now_.resize(shape.stages);
        busy_.resize(shape.stages);
        next_.resize(shape.stages);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t rank = 0; rank < shape.stages; ++rank) {
                while (next_[rank] < passes_[rank].size() && try_next(rank)) moved = true;
            }
        }
    }
    bool ended() const {
        for (std::uint32_t rank = 0; rank < shape_.stages; ++rank) {
            if (next_[rank] < passes_[rank].size()) return false;
        }
        return true;
    }
    std::int64_t idle(std::uint32_t rank) const {
        return *std::max_element(now_.begin(), now_.end()) - busy_[rank];
    }

private:
    using Key = std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t>;  // forward, lane, model stage, number

    bool is_ready(bool forward, std::uint32_t rank, std::uint32_t chunk, std::uint32_t number, std::int64_t& ready) {
        const std::uint32_t lane = lane_of(rank, shape_.stages, chunk), at = model_stage_of(rank, shape_.stages, chunk);
        const std::uint32_t end = forward ? 0 : shape_.stages - 1;
        if (at == end) return true;
        const auto before = done_.find({forward, lane, forward ? at - 1 : at + 1, number});
        if (before == done_.end()) return false;
        ready = std::max(ready, before->second);
        return true;
    }
    bool try_next(std::uint32_t rank) {
        const DualPass& pass = passes_[rank][next_[rank]];
        std::int64_t ready = now_[rank];
        if (pass.has_forward() && !is_ready(true, rank, pass.chunk, pass.forward, ready)) return false;
        if (pass.has_backward() && !is_ready(false, rank, pass.backward_chunk(), pass.backward, ready)) return false;
        now_[rank] = ready + costs_.of(pass);
        busy_[rank] += costs_.of(pass);
        ++next_[rank];
        const auto finish = [&](bool forward, std::uint32_t chunk, std::uint32_t number) {
            done_[{forward, lane_of(rank, shape_.stages, chunk), model_stage_of(rank, shape_.stages, chunk), number}] =
                now_[rank];
        };
        if (pass.has_forward()) finish(true, pass.chunk, pass.forward);
        if (pass.has_backward()) finish(false, pass.backward_chunk(), pass.backward);
        return true;
    }

    Shape shape_;
    Costs costs_;
    std::vector<std::vector<DualPass>> passes_;
    std::vector<std::int64_t> now_, busy_;
    std::vector<std::size_t> next_;
    std::map<Key, std::int64_t> done_;
};

double closed_form(std::uint32_t stages, const Costs& costs) {
    return dual_pipe_bubble(stages, static_cast<double>(costs.pair), static_cast<double>(costs.backward),
                            static_cast<double>(costs.weights));
}

double longest_idle(const Playback& playback, std::uint32_t stages) {
    std::int64_t most = 0;
    for (std::uint32_t rank = 0; rank < stages; ++rank) most = std::max(most, playback.idle(rank));
    return static_cast<double>(most);
}

TEST_P(DualPipe, EndsWithTheClosedFormBubble) {
    const auto [p, m] = GetParam();
    for (const Costs costs : {Costs{10, 20, 10, 30}, Costs{10, 20, 10, 25}, Costs{20, 26, 6, 46}}) {
        const Playback playback({p, m}, costs);
        ASSERT_TRUE(playback.ended());
        EXPECT_EQ(longest_idle(playback, p), closed_form(p, costs)) << costs.pair << " " << costs.weights;
    }
}

TEST_P(DualPipe, AShortForwardLeavesLessThanTheClosedForm) {
    const auto [p, m] = GetParam();
    const Costs costs{12, 26, 6, 30};
    const Playback playback({p, m}, costs);
    ASSERT_TRUE(playback.ended());
    EXPECT_LE(longest_idle(playback, p), closed_form(p, costs));
}

INSTANTIATE_TEST_SUITE_P(Shapes, DualPipe,
                         testing::Values(Shape{2, 4}, Shape{2, 10}, Shape{4, 8}, Shape{8, 20}, Shape{16, 120}));

TEST(DualPipe, RefusesWhatItCannotFold) {
    EXPECT_THROW(build_dual_pipe(0, 3, 12), InvariantBroken);
    EXPECT_THROW(build_dual_pipe(0, 4, 9), InvariantBroken);
    EXPECT_THROW(build_dual_pipe(0, 4, 6), InvariantBroken);
}

}  // namespace
}  // namespace rehearse

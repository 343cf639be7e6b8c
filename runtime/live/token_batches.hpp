// Batches of tokens whose features make a real gate choose experts as the routing of a scenario says.
//
// Layer l of the model reads the features l E .. l E + E - 1 of a token: its gate has the identity there, and a token
// that is to choose expert e has a large value at l E + e. Which experts a token is to choose is drawn with the
// inclusion probabilities of the routing (systematic sampling over the experts in an order of the token's own, so that
// every token has exactly k different ones); with balanced routing they go round. All other features are small noise.
// The values that the experts add to a token are too small to change its choice in the next layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/workload/spec.hpp"
#include "runtime/live/expert_layer.hpp"

namespace rehearse {

class TokenBatches {
public:
    static constexpr std::uint32_t count = 8;  // different batches, which come round

    // Of one rank. Needs layers x experts features at most (InvariantBroken).
    TokenBatches(const TrainingSpec& training, std::int64_t tokens, std::uint32_t rank, std::uint64_t seed);
    std::span<const LiveElement> batch(std::uint32_t number) const;  // tokens x hidden
    // Of the gate of a layer: hidden x experts.
    static void fill_gate(std::span<LiveElement> weights, std::int64_t experts, std::int64_t layer);

private:
    std::size_t size_;
    kernels::Array<LiveElement> values_;
};

}  // namespace rehearse

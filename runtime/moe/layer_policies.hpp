// The policies of one MoE layer over the steps: gate and calibrator, capacity, balancer.
#pragma once

#include <memory>

#include "models/workload/routing/exchange_bytes.hpp"
#include "runtime/moe/expert_policies.hpp"
#include "runtime/moe/gate.hpp"

namespace rehearse {

class LayerPolicies {
public:
    LayerPolicies(const PolicyInputs& inputs, std::uint32_t layer);

    // A step before the simulated one. Its migration, if any, is added to `outcome`.
    void warm_up(std::uint32_t step, ExpertStep& outcome);
    // The simulated step: one micro-batch of one expert group.
    LayerLoad measure(std::uint32_t step, ExpertFigures& figures) const;
    // Part of a dispatch that comes before work on it begins (comm_pipe/stream_share.hpp), of the busiest rank.
    double stream_first(std::uint32_t step) const;
    std::vector<std::uint32_t> expert_of_slot() const;
    // Rows of every slot of the group in a whole step, on the map and with the gate that hold now.
    std::vector<float> slot_rows(std::uint32_t step) const;

private:
    std::vector<double> shares_of(std::uint32_t step) const;
    TokenDraw draw_for(std::span<const double> shares) const;
    // What each slot gets of its expert's tokens: replicas share them evenly.
    std::vector<float> rows_of_slots(std::span<const double> tokens, double unit) const;
    ExpertSlots slots() const;
    DropReport drop(std::span<const double> tokens, LayerLoad& load) const;

    const PolicyInputs& in_;
    std::uint32_t layer_, experts_, ranks_, top_k_;
    std::int64_t step_tokens_, micro_tokens_;  // of one rank: in a step (a sample), in a micro-batch
    CalibratedGate gate_;
    std::unique_ptr<LoadBalancer> balancer_;   // none: experts in order
};

}  // namespace rehearse

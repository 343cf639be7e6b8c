// The policies at work on the experts of a job: the steps before the simulated one, drawn from its routing, and what
// they leave for it.
//
// For every step and MoE layer: the routing's shares are the gate's probabilities; the calibrator corrects the choice
// (choice e with probability proportional to share[e] exp(correction[e])); tokens are drawn; capacity drops what finds
// no place; the counts, as reduced over all ranks, go to the balancer, whose decision holds from the next step. The
// loads of the simulated step are those of the last one, of one micro-batch of one expert group, on the map that holds
// then. The pager (paged_steps.hpp) runs on the rank with most rows, on the stage with the last layers, over the last
// paged_steps_most steps.
#pragma once

#include "models/workload/moe/expert_loads.hpp"
#include "models/workload/routing/capacity.hpp"
#include "models/workload/spec.hpp"
#include "runtime/moe/paged_steps.hpp"

namespace rehearse {

struct PolicyOutcome {
    ExpertStep step;          // without loads: balanced routing
    double stream_first = 0;  // TechniqueSpec::stream_first
    std::vector<std::vector<std::uint32_t>> expert_of_slot;  // by MoE layer; empty with balanced routing
};

struct PolicyInputs {
    const TrainingSpec& training;
    const PolicySpec& policies;
    std::uint32_t gpus_per_node = 8;
    Bandwidth link;          // that experts move over, one way, of a GPU
    SimDuration latency;     // of one message
    std::uint64_t seed = 1;
    LayerPace pace{};        // for the pager
    double pass = 0;         // s per byte that a core reads or writes, where it copies itself; 0: engines do it
};

inline constexpr std::uint32_t paged_steps_most = 32;  // with the simulated one

// InputError when the balancer's slots don't fit, or a page doesn't fit into the pager's budget.
PolicyOutcome run_expert_policies(const PolicyInputs& inputs);

}  // namespace rehearse

// The pager at work on one rank of an expert group: the real page manager and predictor, over the steps that lead to
// the simulated one and that one itself.
//
// The weights of the rank's experts lie one after the other, by layer and slot, and are cut into pages; an expert may
// share a page with its neighbours or span several. In a step each micro-batch goes forward and then backward through
// the rank's layers. Before a step the predictor says which pages it will use, and the pager plans. The pages of a
// layer are asked for when the layer before it begins (the gate works one layer ahead), used when its own begins, and
// released at its end. They are read, and written in the backward of the last micro-batch, which new values leave. A
// layer begins when the last of its pages is there:
//     wait of a step = sum over its layers of (last page ready - layer could begin)
// Training gives up no rows that a wait can save: a page that finds no room waits until copies under way have made
// some. A page that faulted too often in a row is counted as a migration and waits as well: the other GPUs page alike,
// and the values that it lacks are in host memory. Only what can never find room is dropped. Rows of an expert spread
// evenly over the micro-batches: with r rows in m of them it is used in min(r, m).
#pragma once

#include <span>
#include <vector>

#include "runtime/moe/policy_spec.hpp"

namespace rehearse {

// Of one layer and one micro-batch, when no page is waited for.
struct LayerPace {
    SimDuration forward, backward;
};

struct PagedRank {
    Bytes expert;                    // weights of one
    std::int64_t micro_batches = 1;  // in a step
    LayerPace pace;
};

struct PagedStep {
    PagerCounters counters;  // of the last step alone
    SimDuration wait;
};

// Rows per slot of the rank, by layer: one step.
using SlotRows = std::vector<std::vector<float>>;

// Pages and budget of a pager for so many experts of that size.
PagerSpec pager_spec(const PagerPolicy& policy, Bytes expert, std::size_t experts);
// The link of one GPU, which it shares with the others on its switch.
PcieSpec pcie_spec(const PagerPolicy& policy);

// `steps` in order, all of one shape. Throws InputError as PageManager does.
PagedStep run_paged_steps(const PagerPolicy& policy, const PagedRank& rank, std::span<const SlotRows> steps,
                          std::uint64_t seed);

}  // namespace rehearse

// Is each group of a scenario's `ablation` section a change of that scenario?
#pragma once

#include <functional>

#include "scenarios/scenario.hpp"

namespace rehearse {

// Reads the tree of a scenario, `written`, and adds what is wrong in it to the list.
using ReadTree = std::function<void(Scenario, FaultList&)>;

// Adds a fault at its place in `ablation` for each key that the scenario does not have, each value that does not fit
// its key, and each key that two groups, or one group twice, set to different values: the order in which groups are
// switched off must not matter. Keys of the run itself (name, seed, ablation) are refused.
void check_ablation(const Scenario& scenario, FaultList& faults, const ReadTree& read);

}  // namespace rehearse

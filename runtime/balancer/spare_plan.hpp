// The fast planner: which hot experts get the spare slots, from the loads of the step that is over.
//
// The `top` experts with the largest load per replica take turns: each slot goes to the one that has the largest then,
// on the GPU that has least to do and doesn't hold that expert yet. Replicas share their expert's load evenly. Equal
// experts go by number, equal GPUs by slot.
#pragma once

#include <optional>
#include <span>

#include "runtime/balancer/expert_map.hpp"

namespace rehearse {

// `spare`: slots that may change, ascending; one whose expert stands nowhere else stays. Nothing when none is left.
// O((slots + experts) log + spare (top + log spare)). The map has the next version.
std::optional<ExpertMap> plan_spare_slots(const ExpertMap& map, std::span<const double> loads,
                                          std::span<const std::uint32_t> spare, std::uint32_t top);

}  // namespace rehearse

// The slow, obvious solver: progressive filling over all flows at once. The fast solver is compared with it in tests.
//
// A flow f has one rate x_f (bytes per second) and crosses links l with weights w_fl: it consumes w_fl x_f of the
// capacity C_l. All rates grow together from zero; a flow stops when it reaches its own cap or when a link that it
// crosses is full. The result is the max-min fair allocation, the only one in which every flow is at its cap or has a
// full link on which no other flow is faster (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2; weights on
// the links only change how much of a link one unit of rate consumes).
//
// Example: capacities {10}, two flows with weight 1, one capped at 2 -> rates {2, 8}.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "sim/base/ids.hpp"

namespace rehearse {

struct WeightedLink {
    LinkId link;
    double weight = 1.0;  // > 0: link bytes per flow byte
};

struct ReferenceFlow {
    std::vector<WeightedLink> links;  // each link once
    double cap = std::numeric_limits<double>::infinity();
};

// Rates in the order of `flows`; a flow without links runs at its cap. Cost O(rounds x memberships).
std::vector<double> max_min_reference(std::span<const double> capacities, std::span<const ReferenceFlow> flows);

}  // namespace rehearse

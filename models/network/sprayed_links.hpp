// Where the bytes of a pair go when each switch splits evenly over its next hops (packet spraying, as a fluid).
#pragma once

#include <vector>

#include "models/network/flow/max_min_solver.hpp"
#include "topology/router.hpp"

namespace rehearse {

// Every link on a shortest path, with its share of the bytes; a link may come more than once.
std::vector<WeightedLink> sprayed_links(const Router& router, GpuId source, GpuId destination);

}  // namespace rehearse

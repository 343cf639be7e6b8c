// The bytes of collectives that are priced and never become transfers of the network model: those of tensor and context
// groups, and those of data and embedding groups inside one node. They are laid on the links of their rings here, so
// that link and tier figures show all that a step sends.
#pragma once

#include "models/network/network_model.hpp"
#include "models/network/spec.hpp"
#include "models/workload/workload.hpp"
#include "topology/placement.hpp"
#include "topology/router.hpp"

namespace rehearse {

// Adds to bytes and busy seconds (bytes / rate); `traffic` covers the links of the router's cluster.
void add_priced_traffic(const Workload& workload, const Placement& placement, const Router& router,
                        const NetworkSpec& network, LinkTraffic& traffic);

}  // namespace rehearse

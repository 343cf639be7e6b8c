// Where the tensor and context groups of a placed job lie, as pricing needs to know it.
#pragma once

#include "models/workload/price.hpp"
#include "topology/cluster.hpp"
#include "topology/placement.hpp"

namespace rehearse {

LocalFabric local_fabric(const ParallelSpec& parallel, const RankLayout& layout, const Placement& placement,
                         const Cluster& cluster);

}  // namespace rehearse

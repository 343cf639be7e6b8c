// Ring channels of a process group, as NCCL lays them: node by node, so that each node is entered and left once per
// ring. A group with k members per node gets k rings, rotated so that every ring leaves a node through another GPU and
// with it through another NIC (multi-rail).
#pragma once

#include <vector>

#include "topology/cluster.hpp"

namespace rehearse {

std::vector<std::vector<GpuId>> build_rings(std::vector<GpuId> gpus, const Cluster& cluster);

}  // namespace rehearse

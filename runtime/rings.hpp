// Ring channels of a process group, as NCCL lays them: node by node, so that each node is entered and left once per
// ring. A group with k members per node gets k rings, rotated so that every ring enters and leaves its nodes through
// another NIC (multi-rail), the same one on every node (NCCL_CROSS_NIC=0). In such a ring the GPU of that NIC stands
// twice in a node's run, first and last.
#pragma once

#include <vector>

#include "topology/cluster.hpp"

namespace rehearse {

bool in_one_node(const std::vector<GpuId>& gpus, const Cluster& cluster);

std::vector<std::vector<GpuId>> build_rings(std::vector<GpuId> gpus, const Cluster& cluster);

}  // namespace rehearse

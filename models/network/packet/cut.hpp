// Cuts a fabric into partitions that can be swept side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/fabric_graph.hpp"

namespace rehearse {

// The partition of each node, 0 .. partitions - 1. Servers are dealt out in order, with equal shares of the NIC ports,
// so that neighbours in the numbering stay together: ToR sets, pods. All NICs of a server are in one partition, because
// they may grant each other messages. A switch goes where many of its links towards the hosts lead: of the partitions
// with at least half as many as any, to the one with the fewest ports. Throws InputError (cluster.fabric) when there
// are fewer switches or servers than partitions.
std::vector<std::uint16_t> cut_fabric(const FabricGraph& graph, std::uint32_t partitions);

}  // namespace rehearse

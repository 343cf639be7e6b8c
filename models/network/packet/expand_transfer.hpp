// A transfer as connections of the packet engine.
//
// Messages between nodes are queue pairs of the engine; what stays in a node crosses NVLink at its rate, alone, in
// closed form. A ring becomes one connection per hop between nodes, with one message per step: a member sends what it
// received in the step before. Hops inside a node delay that by the NVLink time of one message, and the messages of
// the members that lie on such hops count as present from the start. An all-to-all becomes its pairs. The bus between a
// GPU and its NIC adds its latency and never limits the rate.
#pragma once

#include <vector>

#include "models/network/network_model.hpp"
#include "models/network/packet/fabric_graph.hpp"
#include "models/network/packet/queue_pair.hpp"
#include "models/network/packet/spec.hpp"

namespace rehearse {

struct TransferConnections {
    std::vector<ConnectionRequest> requests;  // successors are places in this list; they start at time 0
    std::vector<SimDuration> behind;          // of each: bus and NVLink hops that its last packet does not wait for
    SimDuration inside{0};                    // of the parts that never leave a node
};

// More bytes than were asked for where the library reaches a part of the line rate only.
// InvariantBroken for a transfer of fewer than two ends.
TransferConnections expand_transfer(const TransferRequest& request, const Cluster& cluster, std::int64_t queue_pairs);

// Whether at least one hop leaves a node, and all that do leave by the source's NIC and arrive by the destination's:
// not over another rail's.
bool goes_by_packet(const TransferRequest& request, const Cluster& cluster, const Router& router);

// Data packets x links forth + ACKs x links back, without loss.
std::uint64_t transmissions(const ConnectionRequest& request, const FabricGraph& graph, const NetworkSpec& network,
                            const PacketSpec& packet);

}  // namespace rehearse

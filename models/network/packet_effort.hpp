// How many packets a run's traffic would be, before any is sent.
#pragma once

#include <array>

#include "models/network/packet/expand_transfer.hpp"
#include "models/network/slice.hpp"
#include "models/network/transfer_log.hpp"

namespace rehearse {

// Payload bytes that all members send to other nodes: a ring counts each of its hops that leaves a node, an all-to-all
// each pair. 0 for a transfer inside a node.
double payload_between_nodes(TransferRequest request, const Cluster& cluster);

struct PacketEffort {
    struct Part {
        std::uint64_t transfers = 0;
        std::uint64_t transmissions = 0;  // data packets and ACKs x links, without loss: the engine's events, nearly
    };
    Part slice;                                  // within the slice
    std::array<Part, traffic_kind_count> kinds;  // of all traffic, by kind
    std::uint64_t transmissions_all() const;
};

// Of the transfers that can go as packets. The times of a record of flows stand in for those that packets would have.
PacketEffort packet_effort(const TransferRecord& record, const TrafficSlice& slice, const FabricGraph& graph,
                           const Router& router, const NetworkSpec& network, const PacketSpec& packet);

// The latest time so that all transfers that start before it are at most `transmissions_most` together.
SimTime time_within(const TransferRecord& record, std::uint64_t transmissions_most, const FabricGraph& graph,
                    const Router& router, const NetworkSpec& network, const PacketSpec& packet);

}  // namespace rehearse

// How far flows and packets disagree on the traffic of a run: its busiest moments, run again both ways.
//
// For each kind of traffic the moment is sought at which the most bytes of that kind are under way. All transfers
// between nodes that are under way then, of every kind, run again with the starts that they had, once through the flow
// model and once through the packet engine: the same traffic, nothing else on the links. Where that would be too many
// packets, all sizes and all distances between starts shrink by one factor, which leaves who meets whom as it was;
// latencies do not shrink and weigh more then.
#pragma once

#include <vector>

#include "models/network/packet/expand_transfer.hpp"
#include "models/network/transfer_log.hpp"

namespace rehearse {

struct PhaseCheck {
    TrafficKind kind = TrafficKind::other;
    SimTime moment;                    // in the run
    std::uint64_t transfers = 0;       // of this kind; the figures below are theirs
    std::uint64_t transfers_all = 0;   // that ran with them
    double payload = 0;                // bytes that all members send to other nodes, before shrinking
    double scale = 1;                  // of sizes and distances
    std::uint64_t transmissions = 0;   // of packets and ACKs over links, estimated
    struct Figures {
        double completion_mean_s = 0;  // from a transfer's start to its end
        double completion_s = 0;       // from the first start to the last end
    };
    Figures flow{}, packet{};
};

// Transmissions per phase: a few seconds of one core.
inline constexpr std::uint64_t check_transmissions_most = 20'000'000;

// One entry for each kind that crosses nodes, in the order of TrafficKind. InputError as PacketModel's.
std::vector<PhaseCheck> check_packets(const TransferRecord& record, const Cluster& cluster, const Router& router,
                                      const NetworkSpec& network, const PacketSpec& packet, std::uint64_t seed,
                                      std::uint64_t transmissions_most = check_transmissions_most);

}  // namespace rehearse

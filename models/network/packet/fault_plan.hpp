// From what the user says goes wrong to the faults of the engine: names found, flaps unrolled, bit errors as losses.
//
// Example: {kind: flap, down_for: 2 s, period: 10 s, times: 3, begin: 1 s} is three LinkFaults, at 1, 11 and 21 s.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/packet/link_faults.hpp"
#include "models/network/packet/pause_storm.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/spec.hpp"
#include "topology/cluster.hpp"

namespace rehearse {

struct PlannedFault {
    std::uint32_t origin = 0;  // index in PacketSpec::faults
    LinkFault fault;
    LinkId back{};  // of a cable: the other way of fault.link
};
struct FaultPlan {
    std::vector<PlannedFault> links;
    std::vector<PauseStorm> storms;
};

// InputError with every fault of the list, at models.network.packet.faults[i].KEY: no such vertex or link (with the
// nearest name), a link inside a node, times out of order, storms that overlap or strike a fabric without PFC.
FaultPlan plan_faults(const Cluster& cluster, const NetworkSpec& network, const PacketSpec& spec);

}  // namespace rehearse

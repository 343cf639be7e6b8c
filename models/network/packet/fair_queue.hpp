// Fair queueing: one packet of each flow in turn, as Nagle proposed (RFC 970). Packets of a flow keep their order; a
// flow that comes back after its queue ran empty stands at the end of the turn. Packets of one length share a link
// evenly.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "models/network/packet/packet.hpp"
#include "models/network/packet/ring.hpp"

namespace rehearse {

class FairQueue {
public:
    bool empty() const { return turn_.empty(); }
    std::size_t flows() const { return turn_.size(); }  // with packets waiting
    Packet& push(const Packet& packet);
    const Packet& front() const { return waiting_.at(turn_.front()).front(); }  // what pop() would take
    Packet pop();  // not empty

private:
    std::unordered_map<std::uint32_t, Ring<Packet>> waiting_;  // lookup only: by flow
    Ring<std::uint32_t> turn_;                                 // flows with packets, next one first
};

}  // namespace rehearse

#include "models/network/packet/fair_queue.hpp"

#include "sim/base/checks.hpp"

namespace rehearse {

Packet& FairQueue::push(const Packet& packet) {
    Ring<Packet>& own = waiting_[packet.flow];
    if (own.empty()) turn_.push(packet.flow);
    return own.push(packet);
}

Packet FairQueue::pop() {
    REHEARSE_CHECK(!turn_.empty(), "an empty queue has no next packet");
    const std::uint32_t flow = turn_.front();
    turn_.pop();
    const auto own = waiting_.find(flow);
    const Packet packet = own->second.front();
    own->second.pop();
    if (own->second.empty()) {
        waiting_.erase(own);
    } else {
        turn_.push(flow);
    }
    return packet;
}

}  // namespace rehearse

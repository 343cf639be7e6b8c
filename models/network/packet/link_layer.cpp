// What the link makes of an incoming frame before switch or NIC see it.
#include "models/network/packet/engine.hpp"

namespace rehearse {

bool PacketEngine::admit_frame(std::uint32_t node, std::uint32_t port, Packet& packet) {
    if (has(packet, PacketFlag::corrupted)) return false;
    if (has_credits_ && !is_link_local(packet.kind)) {
        credit_receive_[port * classes_ + packet.traffic_class].arrive(credits_of(packet.wire));
        if (!graph_->is_switch(node)) free_credits(port, packet.traffic_class, packet.wire);  // taken at once
    }
    return true;
}

}  // namespace rehearse

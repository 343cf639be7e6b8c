// What the link does with a frame before it leaves, and before switch or NIC see it.
#include "models/network/packet/partition.hpp"

namespace rehearse {

std::uint64_t Partition::enter_link(std::uint32_t port, Packet& packet) {
    const bool is_down = has_faults_ && link_states_[port].is_down;
    const bool is_new = is_numbered(packet.kind) && !has(packet, PacketFlag::replay);
    if (has_retry_ && is_new && !is_down) keep_frame(port, packet);
    if (!has_faults_) return graph_->port(port).byte_time;
    enter_faulty_link(port, packet);
    return link_states_[port].byte_time;
}

bool Partition::admit_frame(std::uint32_t node, std::uint32_t port, Packet& packet) {
    if (has_faults_ && is_cut(port, packet)) return false;
    if (has_retry_ && is_numbered(packet.kind) && !take_in_order(port, packet)) return false;
    if (has(packet, PacketFlag::corrupted)) return false;
    if (has_credits_ && !is_link_local(packet.kind)) {
        credit_receive_[port * classes_ + packet.traffic_class].arrive(credits_of(packet.wire));
        if (!graph_->is_switch(node)) free_credits(port, packet.traffic_class, packet.wire);  // taken at once
    }
    return true;
}

}  // namespace rehearse

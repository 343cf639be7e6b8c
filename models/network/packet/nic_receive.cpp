// The receiving end of a queue pair.
#include <algorithm>
#include <bit>

#include "models/network/packet/partition.hpp"

namespace rehearse {

void Partition::receive_data(const Packet& packet) {
    ReceiveEnd& end = receivers_[packet.flow];
    end.marked |= packet.flags & PacketFlag::congestion;
    if (has(packet, PacketFlag::congestion) && congestion_.sends_notices()) notice(packet.flow);
    if (packet.number == end.expected) {
        accept(packet.flow, end);
        const bool closes = end.expected % end.per_message == 0;
        if (++end.unacked >= spec_->transport.ack_every || closes) {
            reply(packet.flow, PacketKind::ack, end.expected, packet);
            end.unacked = 0;
        }
        if (!end.early.empty()) complain(end, packet);
        return;
    }
    if (packet.number < end.expected) {  // arrived before: its ACK may have been lost
        reply(packet.flow, PacketKind::ack, end.expected, packet);
        return;
    }
    if (spec_->transport.recovery == LossRecovery::selective_repeat) {
        receive_early(end, packet);
        return;
    }
    if (end.has_complained) return;
    end.has_complained = true;
    reply(packet.flow, PacketKind::nack, end.expected, packet);
}

void Partition::receive_early(ReceiveEnd& end, const Packet& packet) {
    const std::uint32_t ahead = packet.number - end.expected;
    if (ahead / 64 >= end.early.size()) end.early.resize(ahead / 64 + 1);
    end.early[ahead / 64] |= 1ull << (ahead % 64);
    reply(packet.flow, PacketKind::ack, end.expected, packet);
    complain(end, packet);
}

// A gap counts as a loss once a packet `reorder_max` further on has arrived; it is reported once.
void Partition::complain(ReceiveEnd& end, const Packet& packet) {
    if (end.has_complained || end.early.empty()) return;
    const std::size_t last = end.early.size() - 1;
    const std::int64_t highest =
        static_cast<std::int64_t>(last) * 64 + (63 - std::countl_zero(end.early[last] | 1));
    if (highest < reorder_max_) return;
    end.has_complained = true;
    Packet missing = packet;
    missing.stamp = static_cast<std::int64_t>(end.early[0]);
    reply(packet.flow, PacketKind::nack, end.expected, missing);
}

// Takes the expected packet and those that had come early behind it.
void Partition::accept(std::uint32_t connection, ReceiveEnd& end) {
    for (bool more = true; more;) {
        ++end.expected;
        end.has_complained = false;
        if (end.expected % end.per_message == 0) {
            end.whole_at = now_;
            grant_successors(end);
        }
        more = false;
        if (!end.early.empty()) {
            more = (end.early[0] & 2) != 0;
            std::uint64_t carry = 0;
            for (std::size_t i = end.early.size(); i-- > 0;) {
                const std::uint64_t low = end.early[i] & 1;
                end.early[i] = end.early[i] >> 1 | carry << 63;
                carry = low;
            }
            while (!end.early.empty() && end.early.back() == 0) end.early.pop_back();
        }
    }
    if (end.expected < end.packets) return;
    results_[connection].delivered = SimTime{now_};
    ended_.push_back(connection);
    FabricNode& node = nodes_[end.node];
    node.fingerprint = (node.fingerprint ^ static_cast<std::uint64_t>(now_) ^ connection) * 0x100000001B3ull;
}

// The sibling's arrival grants what it is behind with.
void Partition::grant_successors(const ReceiveEnd& end) {
    if (end.sibling != no_connection && receivers_[end.sibling].expected < end.expected) return;
    for (const std::uint32_t next : end.successors) {
        if (next == no_connection) return;
        if (end.successor_delay == 0) {
            grant(next);
        } else {
            add_timer(senders_[next].node, now_ + end.successor_delay, TimerKind::grant, next);
        }
    }
}

void Partition::reply(std::uint32_t connection, PacketKind kind, std::uint32_t number, const Packet& cause) {
    ReceiveEnd& end = receivers_[connection];
    Packet packet;
    packet.kind = kind;
    packet.stamp = cause.stamp;
    packet.flow = connection;
    packet.number = number;
    packet.wire = static_cast<std::uint16_t>(control_wire_ + congestion_.telemetry_bytes(end.route.switches));
    if (kind == PacketKind::ack) {
        packet.flags = end.marked;
        end.marked = 0;
    }
    if (has_faults_) refresh_route(requests_[connection].back(), end.route_epoch, end.route);
    packet.route = end.route.ports;
    const std::uint32_t port = graph_->first_port(end.node);
    enqueue(port, pool_.take(packet));
    serve(port);
}

}  // namespace rehearse

// The sending end of a queue pair: pull of the next packet, ACKs, timeouts.
#include <algorithm>
#include <bit>

#include "models/network/packet/partition.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

// Messages that need no predecessor go from here on; those of predecessors may have been granted at the same instant.
void Partition::begin(std::uint32_t connection) {
    SendEnd& end = senders_[connection];
    const ConnectionRequest& request = requests_[connection];
    const std::int64_t first = std::min(request.granted, request.messages) * end.per_message;
    end.granted = static_cast<std::uint32_t>(std::min<std::int64_t>(end.granted + first, end.packets));
    make_ready(connection);
}

void Partition::make_ready(std::uint32_t connection) {
    SendEnd& end = senders_[connection];
    if (end.is_queued || end.is_paced || !may_send(end)) return;
    if (results_[connection].state == ConnectionState::failed) return;
    end.is_queued = true;
    nodes_[end.node].ready.push(connection);
    serve(graph_->first_port(end.node));
}

void Partition::grant(std::uint32_t connection) {
    SendEnd& end = senders_[connection];
    end.granted = std::min(end.granted + end.per_message, end.packets);
    make_ready(connection);
}

// The connections that may send take turns, a packet each.
PacketSlot* Partition::next_data(std::uint32_t node, std::uint32_t port) {
    Ring<std::uint32_t>& ready = nodes_[node].ready;
    for (std::uint32_t left = ready.size(); left > 0; --left) {
        const std::uint32_t connection = ready.front();
        ready.pop();
        SendEnd& end = senders_[connection];
        if ((egress_[port].paused >> end.traffic_class & 1) != 0) {
            ready.push(connection);
            continue;
        }
        end.is_queued = false;
        if (!may_send(end)) continue;
        if (end.pace > now_) {
            end.is_paced = true;
            add_timer(node, end.pace, TimerKind::pace, connection);
            continue;
        }
        if (has_credits_ && !spend_credits(port, end.traffic_class, wire_of(end, number_to_send(end)))) {
            end.is_queued = true;
            ready.push(connection);
            continue;
        }
        PacketSlot& slot = pool_.take();
        build_data(connection, slot.packet);
        if (may_send(end)) {
            end.is_queued = true;
            ready.push(connection);
        }
        return &slot;
    }
    return nullptr;
}

std::uint32_t Partition::number_to_send(const SendEnd& end) {
    if (end.resend == 0) return end.next;
    return end.resend_base + static_cast<std::uint32_t>(std::countr_zero(end.resend));
}

std::uint16_t Partition::wire_of(const SendEnd& end, std::uint32_t number) {
    const std::uint32_t place = number % end.per_message;
    return static_cast<std::uint16_t>((place + 1 == end.per_message ? end.last_wire : end.full_wire) +
                                      (place == 0 ? end.first_extra : 0));
}

void Partition::build_data(std::uint32_t connection, Packet& packet) {
    SendEnd& end = senders_[connection];
    const std::uint32_t number = number_to_send(end);
    if (end.resend != 0) {
        end.resend &= end.resend - 1;
    } else {
        ++end.next;
    }
    if (results_[connection].state == ConnectionState::waiting) results_[connection].state = ConnectionState::active;
    packet = {};
    packet.stamp = now_;
    packet.flow = connection;
    packet.number = number;
    packet.traffic_class = end.traffic_class;
    packet.wire = wire_of(end, number);
    if (number < end.sent) {
        packet.flags |= PacketFlag::again;
        ++results_[connection].retransmissions;
    }
    end.sent = std::max(end.sent, number + 1);
    if (has_faults_) refresh_route(requests_[connection].forth(), end.route_epoch, end.route);
    packet.route = end.route.ports;
    if (spec_->transport.paths != PathChoice::ecmp) choose_path(connection, packet);
    end.last_sent = now_;
    if (congestion_.is_active()) pace(connection, packet);
    if (number == end.acked) end.deadline = INT64_MAX;  // its time begins now
    arm_timeout(connection);
}

// Spraying takes all paths in turn, each connection from another one on, and a packet that goes again the next one;
// flowlet switching draws one per pause of at least the gap.
void Partition::choose_path(std::uint32_t connection, Packet& packet) {
    SendEnd& end = senders_[connection];
    const ConnectionRequest& request = requests_[connection];
    const auto live = [&](std::uint64_t bits) {
        const PacketRoute route = graph_->spread_route(request.source, request.destination, bits);
        const std::span<const std::uint32_t> dead = dead_ports(end.route_epoch);
        if (dead.empty() || graph_->is_live(request.source, route, dead)) return route;
        return graph_->route_around(request.source, request.destination, bits, dead);
    };
    if (spec_->transport.paths == PathChoice::flowlet) {
        if (now_ - end.last_sent < spec_->transport.flowlet_gap.value) return;
        std::uint64_t state = end.path_draw++;
        end.route = live(splitmix64(state));
        packet.route = end.route.ports;
        return;
    }
    packet.route = live(end.path_draw + packet.number + results_[connection].retransmissions).ports;
}

// ACK timeout T = 4.096 us x 2^n; adaptive retransmission begins shorter and doubles per try (InfiniBand annex A17;
// NVIDIA AdaptiveRetransmission).
std::int64_t Partition::timeout_of(const SendEnd& end) const {
    const TransportSpec& transport = spec_->transport;
    const std::int64_t fixed = 4'096'000ll << transport.timeout_exponent;
    if (!is_on(transport.adaptive_retransmission)) return fixed;
    const int doublings = std::min<int>(end.tries, 40);
    const std::int64_t base = transport.adaptive_base.value;
    return base > fixed >> doublings ? fixed : base << doublings;
}

void Partition::arm_timeout(std::uint32_t connection) {
    SendEnd& end = senders_[connection];
    if (end.deadline == INT64_MAX) end.deadline = now_ + timeout_of(end);
    if (end.has_timer) return;
    end.has_timer = true;
    add_timer(end.node, end.deadline, TimerKind::ack_timeout, connection);
}

void Partition::acknowledge_timeout(std::uint32_t connection) {
    SendEnd& end = senders_[connection];
    end.has_timer = false;
    if (end.deadline == INT64_MAX) return;  // nothing is outstanding
    if (end.deadline > now_) {
        end.has_timer = true;
        add_timer(end.node, end.deadline, TimerKind::ack_timeout, connection);
        return;
    }
    ConnectionResult& result = results_[connection];
    ++result.timeouts;
    result.stalled += SimDuration{timeout_of(end)};
    end.deadline = INT64_MAX;
    if (end.tries >= spec_->transport.retries) {
        result.state = ConnectionState::failed;
        result.finished = SimTime{now_};
        ended_.push_back(connection);
        ++closed_;
        end.granted = end.next;  // it may stand in the ready ring: nothing more goes
        end.resend = 0;
        return;
    }
    ++end.tries;
    begin_again(end);
    arm_timeout(connection);  // tries count also while flow control lets nothing go
    make_ready(connection);
}

void Partition::begin_again(SendEnd& end) const {
    if (spec_->transport.recovery == LossRecovery::selective_repeat) {
        end.resend_base = end.acked;
        end.resend = 1;
    } else {
        end.next = end.acked;
    }
}

void Partition::receive_ack(const Packet& packet) {
    SendEnd& end = senders_[packet.flow];
    ConnectionResult& result = results_[packet.flow];
    if (result.state == ConnectionState::done || result.state == ConnectionState::failed) return;
    const std::uint32_t acked = end.acked;
    if (packet.kind != PacketKind::cnp && packet.number > end.acked) {
        end.acked = packet.number;
        end.next = std::max(end.next, end.acked);
        end.tries = 0;
        end.deadline = end.acked == end.sent ? INT64_MAX : now_ + timeout_of(end);
        if (end.acked == end.packets) {
            result.state = ConnectionState::done;
            ++closed_;
            result.finished = SimTime{now_};
            FabricNode& node = nodes_[end.node];
            node.fingerprint = (node.fingerprint ^ (static_cast<std::uint64_t>(now_) + packet.flow)) * 0x100000001B3ull;
            return;
        }
    }
    if (congestion_.is_active()) hear(packet, end.acked - acked);
    if (packet.kind == PacketKind::nack) hear_missing(end, packet);
    make_ready(packet.flow);
}

// Go-back-N begins again at the missing packet. Selective repeat sends what the bit map lacks below its highest bit.
void Partition::hear_missing(SendEnd& end, const Packet& packet) {
    if (packet.number < end.acked) return;
    if (spec_->transport.recovery == LossRecovery::go_back_n) {
        end.next = packet.number;
        return;
    }
    const auto arrived = static_cast<std::uint64_t>(packet.stamp);
    const int highest = 63 - std::countl_zero(arrived | 1);
    end.resend_base = packet.number;
    end.resend = ~arrived & ((1ull << highest) - 1);
    if (end.resend == 0) end.resend = 1;
}

}  // namespace rehearse

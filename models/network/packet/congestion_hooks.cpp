// Where the engine meets congestion control: pacing at the sending NIC, notices at the receiving one.
#include <algorithm>

#include "models/network/packet/partition.hpp"

namespace rehearse {

// A full packet out over every link of the route and its ACK back, each node storing and forwarding.
PathFacts PacketEngine::path_facts(const SendEnd& end) const {
    const std::uint32_t nic_port = graph_->first_port(end.node);
    PathFacts facts;
    facts.switches = end.route.switches;
    const std::uint64_t packet = end.full_wire + congestion_.telemetry_bytes(facts.switches);
    const std::uint64_t control = control_wire_ + congestion_.telemetry_bytes(facts.switches);
    facts.line_rate = static_cast<double>(graph_->cluster().link(graph_->port(nic_port).link).rate.value);
    facts.packet_bits = static_cast<double>(packet) * 8;
    std::uint32_t port = nic_port;
    for (std::uint32_t hop = 0;; ++hop) {
        const GraphPort& out = graph_->port(port);
        const GraphPort& back = graph_->port(out.peer);
        facts.base_rtt += out.latency + static_cast<std::int64_t>(packet * out.byte_time >> 16) + back.latency +
                          static_cast<std::int64_t>(control * back.byte_time >> 16);
        if (hop == facts.switches) return facts;
        port = graph_->first_port(back.node) + end.route.ports[hop];
    }
}

// Called as a packet leaves: the next one follows no sooner than the rate allows.
void Partition::pace(std::uint32_t connection, Packet& packet) {
    SendEnd& end = senders_[connection];
    packet.wire = static_cast<std::uint16_t>(packet.wire + congestion_.telemetry_bytes(end.route.switches));
    if (congestion_.has_telemetry()) packet.stamp = packet.number;  // leads back to the telemetry
    allow(end, congestion_.sent(connection, now_, packet.wire), packet.wire);
}

void Partition::allow(SendEnd& end, const Allowance& allowance, std::int64_t wire) {
    const auto window = static_cast<std::uint32_t>(spec_->transport.window_packets);
    end.window = window == 0 ? allowance.window : std::min(allowance.window, window);
    const double line = static_cast<double>(graph_->port(graph_->first_port(end.node)).byte_time) / 0x1p16;
    const double apart = 8e12 / allowance.rate;  // ps per byte
    const auto after = static_cast<std::int64_t>(apart * static_cast<double>(wire));
    end.pace = apart <= line * (1 + 1e-6) ? 0 : end.last_sent + after;
}

void Partition::hear(const Packet& packet, std::uint32_t newly) {
    SendEnd& end = senders_[packet.flow];
    if (packet.kind == PacketKind::cnp) {
        allow(end, congestion_.notified(packet.flow, now_), end.full_wire);
        return;
    }
    if (packet.kind != PacketKind::ack) return;
    AckEvent event;
    event.now = now_;
    event.is_marked = has(packet, PacketFlag::congestion);
    event.newly = newly;
    event.acked = end.acked;
    event.next = end.next;
    if (congestion_.has_telemetry()) {
        event.hops = congestion_.recorded(packet.flow, static_cast<std::uint32_t>(packet.stamp));
    } else {
        event.delay = now_ - packet.stamp;
    }
    allow(end, congestion_.acknowledged(packet.flow, event), end.full_wire);
}

void Partition::take_telemetry(std::uint32_t port, const Packet& packet) {
    const GraphPort& out = graph_->port(port);
    HopRecord record;
    record.time = now_;
    record.sent = static_cast<std::int64_t>(counters_[port].bytes);
    record.queue = queues_[port * classes_ + packet.traffic_class].bytes;
    record.rate = 8e12 * 0x1p16 / static_cast<double>(out.byte_time);
    record.port = port;
    const std::uint16_t home = engine_.cut_[senders_[packet.flow].node];
    if (home == id_) return congestion_.record(packet.flow, packet.number, packet.hop - 1u, record);
    outboxes_[turn_][home].records.push_back({packet.flow, packet.number, packet.hop - 1u, record});
}

// The receiving NIC reports a mark `cnp_delay` later, and a queue pair's marks no more often than the gap.
void Partition::notice(std::uint32_t connection) {
    ReceiveEnd& end = receivers_[connection];
    if (now_ - end.last_cnp < congestion_.notice_gap().value) return;
    end.last_cnp = now_;
    add_timer(end.node, now_ + spec_->cnp_delay.value, TimerKind::cnp, connection);
}

}  // namespace rehearse

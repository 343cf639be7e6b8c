// Queues, service and the wire: what switches do, and NICs with their one port.
#include <algorithm>
#include <bit>

#include "models/network/packet/partition.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr std::uint64_t mark_stream = 0xEC17'0000'0000'0000;  // apart from the draws of losses

}  // namespace

void Partition::forward(std::uint32_t in_port, Packet& packet) {
    const std::uint32_t node = graph_->port(in_port).node;
    const std::uint32_t out = graph_->first_port(node) + packet.route[packet.hop++];
    packet.in_port = graph_->port(in_port).local;
    const std::uint32_t klass = packet.traffic_class;
    SharedBuffer& buffer = buffers_[first_buffer_[node] + packet.in_port % spec_->buffer.slices];
    switch (buffer.admit(ingress_[in_port * classes_ + klass], packet.wire, headroom_[in_port])) {
        case SharedBuffer::Verdict::dropped:
            ++counters_[in_port].drops;
            return;
        case SharedBuffer::Verdict::admitted_pause:
            send_pause(in_port, klass, 1);
            break;
        case SharedBuffer::Verdict::admitted:
            break;
    }
    enqueue(out, packet);
    serve(out);
}

void Partition::enqueue(std::uint32_t port, const Packet& packet) {
    if ((egress_[port].discarding >> packet.traffic_class & 1) != 0) return discard(port, packet);
    const std::uint32_t index = port * classes_ + packet.traffic_class;
    PortQueue& queue = queues_[index];
    Packet& kept = fair_.empty() ? queue.ring.push(packet) : fair_[index].push(packet);
    queue.bytes += packet.wire;
    egress_[port].waiting |= 1u << packet.traffic_class;
    if (queue.bytes > counters_[port].queue_peak) counters_[port].queue_peak = queue.bytes;
    if (is_on(spec_->ecn.enabled) && packet.kind == PacketKind::data) mark(port, queue.bytes, kept);
}

void Partition::mark(std::uint32_t port, std::int64_t queue_bytes, Packet& packet) {
    const EcnSpec& ecn = spec_->ecn;
    if (queue_bytes <= ecn.mark_min.value || has(packet, PacketFlag::congestion)) return;
    if (queue_bytes < ecn.mark_max.value) {
        const double ramp = static_cast<double>(queue_bytes - ecn.mark_min.value) /
                            static_cast<double>(ecn.mark_max.value - ecn.mark_min.value);
        std::uint64_t state = seed_ ^ mark_stream ^ (std::uint64_t{port} << 40) ^ egress_[port].mark_counter++;
        const double draw = static_cast<double>(splitmix64(state) >> 11) * 0x1p-53;
        if (draw >= ramp * ecn.mark_probability.value) return;
    }
    packet.flags |= PacketFlag::congestion;
    ++counters_[port].marks;
}

void Partition::serve(std::uint32_t port) {
    Egress& egress = egress_[port];
    if (egress.has_timer) return;
    if (egress.free_at <= now_) {
        Packet packet;
        if (!next_packet(port, packet)) return;
        transmit(port, packet);
    }
    const std::uint32_t node = graph_->port(port).node;
    const bool nic_waits = !graph_->is_switch(node) && !nodes_[node].ready.empty();
    const bool is_replaying = has_retry_ && retry_send_[port].is_replaying();
    if (urgent_[port].empty() && (egress.waiting & ~egress.paused) == 0 && !nic_waits && !is_replaying) return;
    egress.has_timer = true;
    add_timer(node, egress.free_at, TimerKind::port_free, port);
}

bool Partition::next_packet(std::uint32_t port, Packet& packet) {
    if (!urgent_[port].empty()) {
        packet = urgent_[port].front();
        urgent_[port].pop();
        return true;
    }
    if (has_retry_ && holds_new_frames(port)) return next_replay(port, packet);
    Egress& egress = egress_[port];
    const std::uint32_t node = graph_->port(port).node;
    const std::uint32_t eligible = egress.waiting & ~egress.paused;
    if (eligible == 0) return !graph_->is_switch(node) && next_data(node, port, packet);
    // Class 0 first; the others in turn.
    std::uint32_t klass = 0;
    if ((eligible & 1) == 0) {
        const std::uint32_t above = eligible & ~((2u << egress.last_class) - 1);
        klass = static_cast<std::uint32_t>(std::countr_zero(above != 0 ? above : eligible));
        egress.last_class = static_cast<std::uint8_t>(klass);
    }
    PortQueue& queue = queues_[port * classes_ + klass];
    const Packet& first = fair_.empty() ? queue.ring.front() : fair_[port * classes_ + klass].front();
    if (has_credits_ && !spend_credits(port, klass, first.wire)) return next_packet(port, packet);
    if (fair_.empty()) {
        packet = queue.ring.front();
        queue.ring.pop();
    } else {
        packet = fair_[port * classes_ + klass].pop();
    }
    queue.bytes -= packet.wire;
    if (queue.bytes == 0) egress.waiting &= ~(1u << klass);
    if (graph_->is_switch(node)) release(packet, node);
    return true;
}

void Partition::release(const Packet& packet, std::uint32_t node) {
    const std::uint32_t in_port = graph_->first_port(node) + packet.in_port;
    if (has_credits_) return free_credits(in_port, packet.traffic_class, packet.wire);
    SharedBuffer& buffer = buffers_[first_buffer_[node] + packet.in_port % spec_->buffer.slices];
    if (buffer.release(ingress_[in_port * classes_ + packet.traffic_class], packet.wire)) {
        send_pause(in_port, packet.traffic_class, 0);
    }
}

void Partition::transmit(std::uint32_t port, Packet& packet) {
    const GraphPort& out = graph_->port(port);
    Egress& egress = egress_[port];
    PortCounters& counters = counters_[port];
    const std::uint64_t byte_time = has_link_layer_ ? enter_link(port, packet) : out.byte_time;
    egress.free_at = now_ + static_cast<std::int64_t>((packet.wire * byte_time + 0xFFFF) >> 16);
    packet.time = egress.free_at + out.latency;
    if (congestion_.has_telemetry() && packet.kind == PacketKind::data && packet.hop > 0) take_telemetry(port, packet);
    counters.bytes += packet.wire;
    ++(packet.kind == PacketKind::data ? counters.data : counters.control);
    const std::uint64_t threshold = packet.kind == PacketKind::data ? loss_threshold_data_ : loss_threshold_control_;
    if (threshold != 0 && is_numbered(packet.kind) &&
        draw_loss(port, threshold, static_cast<std::uint64_t>(spec_->loss.burst))) {
        packet.flags |= PacketFlag::corrupted;
        ++counters.losses;
    }
    if (egress.to_partition == id_) return deliver(out.peer, packet);
    outboxes_[turn_][egress.to_partition].packets.push_back({out.peer, packet});
    handed_earliest_ = std::min(handed_earliest_, packet.time);
}

void Partition::deliver(std::uint32_t in_port, const Packet& packet) {
    const GraphPort& in = graph_->port(in_port);
    wires_[in_port].push(packet);
    nodes_[in.node].arriving[in.local >> 6] |= 1ull << (in.local & 63);
    if (packet.time < next_time_[in.node]) next_time_[in.node] = packet.time;
}

}  // namespace rehearse

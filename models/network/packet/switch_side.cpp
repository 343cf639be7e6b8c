// Queues, service and the wire: what switches do, and NICs with their one port.
#include <algorithm>
#include <bit>

#include "models/network/packet/partition.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr std::uint64_t mark_stream = 0xEC17'0000'0000'0000;  // apart from the draws of losses

}  // namespace

void Partition::forward(std::uint32_t node, std::uint32_t in_port, PacketSlot& slot) {
    Packet& packet = slot.packet;
    const std::uint32_t first_port = graph_->first_port(node);
    const std::uint32_t out = first_port + packet.route[packet.hop++];
    packet.in_port = static_cast<std::uint8_t>(in_port - first_port);
    const std::uint32_t klass = packet.traffic_class;
    switch (buffer_of(node, packet.in_port).admit(ingress_[in_port * classes_ + klass], packet.wire,
                                                  headroom_[in_port])) {
        case SharedBuffer::Verdict::dropped:
            ++counters_[in_port].drops;
            pool_.give_back(slot);
            return;
        case SharedBuffer::Verdict::admitted_pause:
            send_pause(in_port, klass, 1);
            break;
        case SharedBuffer::Verdict::admitted:
            break;
    }
    enqueue(out, slot);
    if (!egress_[out].has_timer) serve(out);
}

void Partition::enqueue(std::uint32_t port, PacketSlot& slot) {
    const Packet& packet = slot.packet;
    const std::uint32_t klass = packet.traffic_class, index = port * classes_ + klass;
    Egress& egress = egress_[port];
    if ((egress.discarding >> klass & 1) != 0) {
        discard(port, packet);
        pool_.give_back(slot);
        return;
    }
    PortQueue& queue = queues_[index];
    queue.bytes += packet.wire;
    egress.waiting |= 1u << klass;
    if (queue.bytes > counters_[port].queue_peak) counters_[port].queue_peak = queue.bytes;
    if (is_on(spec_->ecn.enabled) && packet.kind == PacketKind::data) mark(port, queue.bytes, slot.packet);
    if (fair_.empty()) return queue.packets.push(slot);
    fair_[index].push(packet);
    pool_.give_back(slot);
}

void Partition::push_urgent(std::uint32_t port, const Packet& packet) {
    urgent_[port].push(packet);
    egress_[port].has_urgent = true;
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
        PacketSlot* const slot = next_packet(port);
        if (slot == nullptr) return;
        transmit(port, *slot);
    }
    const std::uint32_t node = egress.node;
    const bool nic_waits = !graph_->is_switch(node) && !nodes_[node].ready.empty();
    const bool is_replaying = has_retry_ && retry_send_[port].is_replaying();
    if (!egress.has_urgent && (egress.waiting & ~egress.paused) == 0 && !nic_waits && !is_replaying) return;
    egress.has_timer = true;
    add_timer(node, egress.free_at, TimerKind::port_free, port);
}

PacketSlot* Partition::next_packet(std::uint32_t port) {
    Egress& egress = egress_[port];
    if (egress.has_urgent) {
        PacketSlot& slot = pool_.take(urgent_[port].front());
        urgent_[port].pop();
        egress.has_urgent = !urgent_[port].empty();
        return &slot;
    }
    if (has_retry_ && holds_new_frames(port)) return next_replay(port);
    const std::uint32_t node = egress.node;
    const std::uint32_t eligible = egress.waiting & ~egress.paused;
    if (eligible == 0) return graph_->is_switch(node) ? nullptr : next_data(node, port);
    // Class 0 first; the others in turn.
    std::uint32_t klass = 0;
    if ((eligible & 1) == 0) {
        const std::uint32_t above = eligible & ~((2u << egress.last_class) - 1);
        klass = static_cast<std::uint32_t>(std::countr_zero(above != 0 ? above : eligible));
        egress.last_class = static_cast<std::uint8_t>(klass);
    }
    const std::uint32_t index = port * classes_ + klass;
    if (has_credits_) {
        const Packet& first = fair_.empty() ? queues_[index].packets.front().packet : fair_[index].front();
        if (!spend_credits(port, klass, first.wire)) return next_packet(port);
    }
    PacketSlot& slot = next_queued(port, klass);
    if (queues_[index].bytes == 0) egress.waiting &= ~(1u << klass);
    if (graph_->is_switch(node)) release(slot.packet, node);
    return &slot;
}

PacketSlot& Partition::next_queued(std::uint32_t port, std::uint32_t klass) {
    const std::uint32_t index = port * classes_ + klass;
    PacketSlot& slot = fair_.empty() ? queues_[index].packets.pop() : pool_.take(fair_[index].pop());
    queues_[index].bytes -= slot.packet.wire;
    return slot;
}

void Partition::release(const Packet& packet, std::uint32_t node) {
    const std::uint32_t in_port = graph_->first_port(node) + packet.in_port;
    if (has_credits_) return free_credits(in_port, packet.traffic_class, packet.wire);
    IngressQueue& queue = ingress_[in_port * classes_ + packet.traffic_class];
    if (buffer_of(node, packet.in_port).release(queue, packet.wire)) send_pause(in_port, packet.traffic_class, 0);
}

void Partition::transmit(std::uint32_t port, PacketSlot& slot) {
    Packet& packet = slot.packet;
    Egress& egress = egress_[port];
    PortCounters& counters = counters_[port];
    const std::uint64_t byte_time = has_link_layer_ ? enter_link(port, packet) : egress.byte_time;
    egress.free_at = now_ + static_cast<std::int64_t>((packet.wire * byte_time + 0xFFFF) >> 16);
    packet.time = egress.free_at + egress.latency;
    if (packet.wire > egress.there_at)
        packet.time = now_ + static_cast<std::int64_t>((egress.there_at * byte_time + 0xFFFF) >> 16) + egress.latency;
    const bool is_data = packet.kind == PacketKind::data;
    if (is_data && packet.hop > 0 && congestion_.has_telemetry()) take_telemetry(port, packet);
    counters.bytes += packet.wire;
    ++(is_data ? counters.data : counters.control);
    const std::uint64_t threshold = is_data ? loss_threshold_data_ : loss_threshold_control_;
    if (threshold != 0 && is_numbered(packet.kind) &&
        draw_loss(port, threshold, static_cast<std::uint64_t>(spec_->loss.burst))) {
        packet.flags |= PacketFlag::corrupted;
        ++counters.losses;
    }
    if (egress.to_partition == id_) return deliver(port, slot);
    outboxes_[turn_][egress.to_partition].packets.push_back({port, packet});
    handed_earliest_ = std::min(handed_earliest_, packet.time);
    pool_.give_back(slot);
}

void Partition::deliver(std::uint32_t port, PacketSlot& slot) {
    const Egress& egress = egress_[port];
    const std::int64_t time = slot.packet.time;
    wires_[egress.peer].push({time, &slot});
    nodes_[egress.peer_node].arriving[egress.peer_local >> 6] |= 1ull << (egress.peer_local & 63);
    if (time < next_time_[egress.peer_node]) next_time_[egress.peer_node] = time;
}

}  // namespace rehearse

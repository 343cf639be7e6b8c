// Priority flow control between the two ends of a link (IEEE 802.1Qbb).
#include <algorithm>

#include "models/network/packet/partition.hpp"

namespace rehearse {

namespace {

constexpr std::uint16_t pause_wire = 64 + 20;  // smallest frame, preamble and gap

}  // namespace

std::int64_t Partition::pause_duration(std::uint32_t port) const {
    const std::uint64_t quantum = (64 * graph_->port(port).byte_time) >> 16;  // 512 bit times
    return static_cast<std::int64_t>(quantum) * spec_->pfc.pause_quanta;
}

void Partition::send_pause(std::uint32_t port, std::uint32_t klass, std::int64_t on) {
    Packet packet;
    packet.kind = PacketKind::pause;
    packet.number = klass;
    packet.stamp = on != 0 ? pause_duration(port) : 0;
    packet.wire = pause_wire;
    push_urgent(port, packet);
    if (on != 0) {
        ++counters_[port].pauses;
        repeat_pause(port, klass);
    }
    serve(port);
}

void Partition::refresh_pause(std::uint32_t port, std::uint32_t klass) {
    IngressQueue& queue = ingress_[port * classes_ + klass];
    queue.has_refresh = false;
    if (queue.is_paused) send_pause(port, klass, 1);
}

// One timer per queue, however often it stops and resumes its peer until then.
void Partition::repeat_pause(std::uint32_t port, std::uint32_t klass) {
    IngressQueue& queue = ingress_[port * classes_ + klass];
    if (queue.has_refresh) return;
    queue.has_refresh = true;
    add_timer(graph_->port(port).node, now_ + pause_duration(port) / 2, TimerKind::pause_refresh, port, klass);
}

// The sender falls silent `response` after the frame arrived, between two packets; it resumes at once.
void Partition::receive_pause(std::uint32_t port, const Packet& packet) {
    const std::uint32_t klass = packet.number;
    PauseState& pause = pauses_[port * classes_ + klass];
    const std::uint32_t node = graph_->port(port).node;
    if (packet.stamp == 0) {
        pause.begins = INT64_MAX;
        pause.ends = now_;
        end_pause(port, klass);
        return;
    }
    const std::int64_t begins = now_ + response_[port];
    pause.ends = begins + packet.stamp;
    add_timer(node, pause.ends, TimerKind::pause_ends, port, klass);
    if ((egress_[port].paused >> klass & 1) != 0 || pause.begins != INT64_MAX) return;
    pause.begins = begins;
    add_timer(node, begins, TimerKind::pause_begins, port, klass);
}

void Partition::begin_pause(std::uint32_t port, std::uint32_t klass) {
    PauseState& pause = pauses_[port * classes_ + klass];
    if (pause.begins != now_) return;  // resumed, or asked anew, in the meantime
    pause.begins = INT64_MAX;
    block(port, klass);
    watch(port, klass);
}

void Partition::end_pause(std::uint32_t port, std::uint32_t klass) {
    if (pauses_[port * classes_ + klass].ends <= now_) unblock(port, klass);
}

void Partition::block(std::uint32_t port, std::uint32_t klass) {
    Egress& egress = egress_[port];
    if (egress.paused == 0) egress.paused_since = now_;
    egress.paused |= 1u << klass;
}

void Partition::unblock(std::uint32_t port, std::uint32_t klass) {
    Egress& egress = egress_[port];
    if ((egress.paused >> klass & 1) == 0) return;
    egress.paused &= ~(1u << klass);
    if (egress.paused == 0) counters_[port].paused += now_ - egress.paused_since;
    serve(port);
}

}  // namespace rehearse

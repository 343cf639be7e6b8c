#include "models/network/packet/link_retry.hpp"

#include <algorithm>

#include "models/network/packet/partition.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

constexpr std::uint16_t control_set = 8;  // bytes of an ACK or NACK

void check_llr(const LlrSpec& llr, Bytes wire_max) {
    FaultList faults;
    const auto add = [&](const char* path, std::int64_t value, std::string expected) {
        faults.add({{}, std::string("models.network.packet.") + path, std::to_string(value), std::move(expected), {}});
    };
    const Bytes least = wire_max + llr.ack_spacing;
    if (llr.ack_spacing <= Bytes{0}) add("llr.ack_spacing", llr.ack_spacing.value, "more than 0 B, 2,048 B is usual");
    if (llr.replays_max < 1 || llr.replays_max > 255) add("llr.replays_max", llr.replays_max, "1 to 255");
    if (llr.replay_buffer > Bytes{0} && llr.replay_buffer < least) {
        add("llr.replay_buffer", llr.replay_buffer.value,
            "at least " + std::to_string(least.value) + " B: one full packet and the spacing of ACKs");
    }
    faults.throw_if_any();
}

}  // namespace

void PacketEngine::fill_retry(Bytes wire_max) {
    const LlrSpec& llr = spec_->llr;
    check_llr(llr, wire_max);
    retry_send_.resize(graph_->port_count());
    retry_receive_.resize(graph_->port_count());
    for (std::uint32_t p = 0; p < graph_->port_count(); ++p) {
        const GraphPort& port = graph_->port(p);
        const std::uint64_t packet = static_cast<std::uint64_t>(wire_max.value) * port.byte_time >> 16;
        const std::int64_t loop = graph_->loop_latency(p) + 3 * static_cast<std::int64_t>(packet) + llr.response.value;
        retry_patience_.push_back(std::max(llr.replay_timer.value, 2 * loop));
    }
}

// A new frame takes its number and is kept. Called when it begins to leave.
void Partition::keep_frame(std::uint32_t port, Packet& packet) {
    RetrySend& send = retry_send_[port];
    if (!has_ack_events_ && send.is_calm()) {
        while (!send.frames.empty() && send.frames.front().time + retry_patience_[port] < now_) send.pop();
    }
    packet.frame = send.next++;
    packet.time = now_;
    if (send.restarts) {
        packet.flags |= PacketFlag::restart;
        send.restarts = false;
        expect_progress(port);
    }
    send.bytes += packet.wire;
    send.frames.push(packet);
}

// In place of new frames: one to be sent again, or none while the replay buffer is full.
PacketSlot* Partition::next_replay(std::uint32_t port) {
    RetrySend& send = retry_send_[port];
    if (!send.is_replaying()) return nullptr;
    send.frames[send.replay].time = now_;
    PacketSlot& slot = pool_.take(send.frames[send.replay]);
    slot.packet.flags |= PacketFlag::replay;
    if (++send.replay == send.frames.size()) send.replay = RetrySend::not_replaying;
    ++counters_[port].replays;
    return &slot;
}

bool Partition::holds_new_frames(std::uint32_t port) const {
    const RetrySend& send = retry_send_[port];
    return send.is_replaying() || (has_ack_events_ && send.bytes + wire_max_ > spec_->llr.replay_buffer.value);
}

void Partition::expect_progress(std::uint32_t port) {
    RetrySend& send = retry_send_[port];
    send.deadline = now_ + retry_patience_[port];
    if (send.has_timer) return;
    send.has_timer = true;
    add_timer(graph_->port(port).node, send.deadline, TimerKind::replay_timeout, port);
}

void Partition::receive_retry(std::uint32_t port, const Packet& packet) {
    RetrySend& send = retry_send_[port];
    const auto number = static_cast<std::uint16_t>(packet.number);
    const auto arrived = static_cast<std::uint16_t>(number - send.first());
    if (arrived > send.frames.size()) return;  // about frames that are given up or known
    for (std::uint16_t i = 0; i < arrived; ++i) send.pop();
    if (arrived > 0) send.tries = 0;
    if (packet.kind == PacketKind::retry_nack) {
        if (send.frames.empty() || send.is_waiting) return;
        send.is_waiting = true;
        send.deadline = INT64_MAX;
        add_timer(graph_->port(port).node, now_ + spec_->llr.response.value, TimerKind::replay_begins, port);
        return;
    }
    if (arrived == 0) return;  // the replay under way has still to bring its first frame
    send.deadline = INT64_MAX;
    serve(port);
}

void Partition::begin_replay(std::uint32_t port) {
    RetrySend& send = retry_send_[port];
    if (!send.is_waiting) return;  // the link went down in the meantime
    send.is_waiting = false;
    if (!send.frames.empty()) replay_all(port);
}

void Partition::replay_timeout(std::uint32_t port) {
    RetrySend& send = retry_send_[port];
    send.has_timer = false;
    if (send.deadline == INT64_MAX) return;
    if (send.deadline > now_) {
        send.has_timer = true;
        add_timer(graph_->port(port).node, send.deadline, TimerKind::replay_timeout, port);
        return;
    }
    send.deadline = INT64_MAX;
    if (!send.frames.empty()) replay_all(port);
}

void Partition::replay_all(std::uint32_t port) {
    RetrySend& send = retry_send_[port];
    if (send.tries++ >= spec_->llr.replays_max) return flush(port);
    send.replay = 0;
    expect_progress(port);
    serve(port);
}

// Gives up the frame that could not be brought over: alone, or with everything behind it.
void Partition::flush(std::uint32_t port) {
    RetrySend& send = retry_send_[port];
    if (spec_->llr.flush == LlrFlush::discard) {
        counters_[port].given_up += send.frames.size();
        send.clear();
    } else {
        ++counters_[port].given_up;
        send.pop();
        send.tries = 0;
        send.restarts = send.frames.empty();
        if (!send.frames.empty()) {
            send.frames.front().flags |= PacketFlag::restart;
            return replay_all(port);
        }
    }
    serve(port);
}

// False when the frame ends here.
bool Partition::take_in_order(std::uint32_t port, Packet& packet) {
    RetryReceive& receive = retry_receive_[port];
    const auto ahead = static_cast<std::int16_t>(packet.frame - receive.expected);
    const bool is_good = !has(packet, PacketFlag::corrupted);
    const bool restarts = is_good && has(packet, PacketFlag::restart) && ahead >= 0;
    if (is_good && (ahead == 0 || restarts)) {
        receive.expected = static_cast<std::uint16_t>(packet.frame + 1);
        receive.unacked += packet.wire;
        const bool tells = restarts || receive.has_complained;
        receive.has_complained = false;
        acknowledge_frames(port, tells ? Switch::on : Switch::off);
        packet.flags &= static_cast<std::uint8_t>(~(PacketFlag::replay | PacketFlag::restart));
        return true;
    }
    if (is_good && ahead < 0) {  // known: the sender had not heard so
        answer_frames(port, PacketKind::retry_ack, control_set);
    } else if (!receive.has_complained) {
        receive.has_complained = true;
        answer_frames(port, PacketKind::retry_nack, control_set);
    }
    return false;
}

// ACKs for every `ack_spacing` bytes. `at_once`: the sender waits for one.
void Partition::acknowledge_frames(std::uint32_t port, Switch at_once) {
    RetryReceive& receive = retry_receive_[port];
    const std::int64_t spacing = spec_->llr.ack_spacing.value;
    const std::int64_t due = receive.unacked / spacing;
    receive.unacked -= due * spacing;
    if (is_on(at_once) || (has_ack_events_ && due > 0)) {
        answer_frames(port, PacketKind::retry_ack, static_cast<std::uint16_t>(control_set * (due > 0 ? due : 1)));
    } else if (due > 0) {
        Egress& egress = egress_[port];
        const std::uint64_t time = static_cast<std::uint64_t>(control_set * due) * graph_->port(port).byte_time;
        egress.free_at = std::max(egress.free_at, now_) + static_cast<std::int64_t>((time + 0xFFFF) >> 16);
        counters_[port].bytes += static_cast<std::uint64_t>(control_set * due);
    }
}

void Partition::answer_frames(std::uint32_t port, PacketKind kind, std::uint16_t wire) {
    Packet packet;
    packet.kind = kind;
    packet.number = retry_receive_[port].expected;
    packet.wire = wire;
    push_urgent(port, packet);
    serve(port);
}

}  // namespace rehearse

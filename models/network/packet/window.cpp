#include <algorithm>
#include <bit>
#include <functional>

#include "models/network/packet/partition.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

// Ports that tie at an instant are taken in an order rotated by a hash of the instant.
std::uint8_t rotation(std::int64_t time) {
    return static_cast<std::uint8_t>((static_cast<std::uint64_t>(time) * 0x9E3779B97F4A7C15ull) >> 56);
}

}  // namespace

Partition::Partition(PacketEngine& engine, std::uint32_t id, std::uint32_t count, std::vector<std::uint32_t> own)
    : id_(id), own_(std::move(own)), engine_(engine) {
    for (std::vector<Outbox>& boxes : outboxes_) boxes.resize(count);
}

std::int64_t Partition::next_event_time() const {
    std::int64_t earliest = INT64_MAX;
    for (const std::uint32_t node : own_) earliest = std::min(earliest, next_time_[node]);
    return earliest;
}

void Partition::sweep_all(std::int64_t begin, std::int64_t end) {
    constexpr std::uint32_t none = UINT32_MAX;
    std::uint32_t before = none;
    for (const std::uint32_t node : own_) {
        if (next_time_[node] >= end) continue;
        prefetch(node);
        if (before != none) sweep(before, begin, end);
        before = node;
    }
    if (before != none) sweep(before, begin, end);
}

// What every packet touches at this node, fetched while the node before it is being swept.
void Partition::prefetch(std::uint32_t node) const {
    const std::uint32_t first = graph_->first_port(node), last = first + graph_->ports_of(node);
    for (std::uint32_t port = first; port < last; ++port) {
        __builtin_prefetch(&egress_[port]);
        __builtin_prefetch(&counters_[port]);
        __builtin_prefetch(&queues_[port * classes_]);
        __builtin_prefetch(&ingress_[port * classes_]);
        __builtin_prefetch(&wires_[port]);
    }
}

void Partition::sweep(std::uint32_t node, std::int64_t begin, std::int64_t end) {
    const std::int64_t later = gather(node, begin, end);
    FabricNode& here = nodes_[node];
    const std::uint32_t first_port = graph_->first_port(node);
    std::size_t i = 0;
    for (;;) {
        const std::int64_t arrival =
            i < arrivals_.size() ? begin + static_cast<std::int64_t>(arrivals_[i] >> 8) : INT64_MAX;
        const std::int64_t timer = here.timers.empty() ? INT64_MAX : here.timers.front().time;
        now_ = std::min(arrival, timer);
        if (now_ >= end) break;
        ++events_;
        if (timer <= arrival) {
            const NodeTimer due = here.timers.front();
            std::pop_heap(here.timers.begin(), here.timers.end(), std::greater<>{});
            here.timers.pop_back();
            fire(node, due);
            continue;
        }
        const std::uint32_t local = static_cast<std::uint8_t>(arrivals_[i++] - rotation(now_));
        Ring<WireEntry>& wire = wires_[first_port + local];
        PacketSlot& slot = *wire.front().slot;
        wire.pop();
        if (wire.empty()) here.arriving[local >> 6] &= ~(1ull << (local & 63));
        arrive(node, first_port + local, slot);
    }
    next_time_[node] = std::min(later, here.timers.empty() ? INT64_MAX : here.timers.front().time);
}

// Sort keys of all packets that arrive before `end`; returns when the first later one does.
std::int64_t Partition::gather(std::uint32_t node, std::int64_t begin, std::int64_t end) {
    arrivals_.clear();
    std::int64_t later = INT64_MAX;
    const std::uint32_t first_port = graph_->first_port(node);
    for (std::uint32_t word = 0; word < 4; ++word) {
        for (std::uint64_t bits = nodes_[node].arriving[word]; bits != 0; bits &= bits - 1) {
            const std::uint32_t local = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
            Ring<WireEntry>& wire = wires_[first_port + local];
            for (std::uint32_t i = 0; i < wire.size(); ++i) {
                const std::int64_t time = wire[i].time;
                if (time >= end) {
                    later = std::min(later, time);
                    break;
                }
                __builtin_prefetch(wire[i].slot);
                const auto turn = static_cast<std::uint8_t>(local + rotation(time));
                arrivals_.push_back(static_cast<std::uint64_t>(time - begin) << 8 | turn);
            }
        }
    }
    std::sort(arrivals_.begin(), arrivals_.end());
    return later;
}

void Partition::add_timer(std::uint32_t node, std::int64_t time, TimerKind kind, std::uint32_t id,
                             std::uint32_t klass) {
    std::vector<NodeTimer>& timers = nodes_[node].timers;
    timers.push_back({time, static_cast<std::uint32_t>(kind) | klass << 8, id});
    std::push_heap(timers.begin(), timers.end(), std::greater<>{});
    next_time_[node] = std::min(next_time_[node], time);
}

void Partition::fire(std::uint32_t node, const NodeTimer& timer) {
    const std::uint32_t klass = timer.kind_and_class >> 8;
    switch (static_cast<TimerKind>(timer.kind_and_class & 0xFF)) {
        case TimerKind::port_free:
            egress_[timer.id].has_timer = false;
            serve(timer.id);
            return;
        case TimerKind::start:
            begin(timer.id);
            return;
        case TimerKind::grant:
            grant(timer.id);
            return;
        case TimerKind::pace:
            senders_[timer.id].is_paced = false;
            make_ready(timer.id);
            return;
        case TimerKind::cnp:
            reply(timer.id, PacketKind::cnp, receivers_[timer.id].expected, Packet{});
            return;
        case TimerKind::ack_timeout:
            acknowledge_timeout(timer.id);
            return;
        case TimerKind::pause_begins:
            begin_pause(timer.id, klass);
            return;
        case TimerKind::pause_ends:
            end_pause(timer.id, klass);
            return;
        case TimerKind::pause_refresh:
            refresh_pause(timer.id, klass);
            return;
        case TimerKind::credit_check:
            check_credits(timer.id);
            return;
        case TimerKind::replay_begins:
            begin_replay(timer.id);
            return;
        case TimerKind::replay_timeout:
            replay_timeout(timer.id);
            return;
        case TimerKind::fault:
            update_link(timer.id);
            return;
        case TimerKind::host_event:
            hear_event(node);
            return;
        case TimerKind::watchdog:
            look_at_pause(timer.id, klass);
            return;
        case TimerKind::storm_begins:
            begin_storm(timer.id, klass);
            return;
        case TimerKind::storm_ends:
            end_storm(timer.id, klass);
            return;
    }
    REHEARSE_CHECK(node >= nodes_.size(), "a timer of no kind");
}

// Switches pass on what is for others; everything else ends here.
void Partition::arrive(std::uint32_t node, std::uint32_t port, PacketSlot& slot) {
    Packet& packet = slot.packet;
    const bool is_taken = has_link_layer_ ? admit_frame(node, port, packet) : !has(packet, PacketFlag::corrupted);
    if (is_taken && graph_->is_switch(node) && !is_link_local(packet.kind)) return forward(node, port, slot);
    if (is_taken) take(port, packet);
    pool_.give_back(slot);
}

void Partition::take(std::uint32_t port, const Packet& packet) {
    switch (packet.kind) {
        case PacketKind::pause:
            receive_pause(port, packet);
            return;
        case PacketKind::credit:
            receive_credit(port, packet);
            return;
        case PacketKind::credit_check:
            receive_credit_check(port, packet);
            return;
        case PacketKind::retry_nack:
        case PacketKind::retry_ack:
            receive_retry(port, packet);
            return;
        case PacketKind::data:
            receive_data(packet);
            return;
        default:
            receive_ack(packet);
            return;
    }
}

}  // namespace rehearse

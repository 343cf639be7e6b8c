#include "models/network/packet/pause_storm.hpp"

#include "models/network/packet/partition.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

void PacketEngine::add_storm(const PauseStorm& storm) {
    REHEARSE_CHECK(storm.begin < storm.end && storm.end.value != INT64_MAX, "a pause storm ends after it begins");
    REHEARSE_CHECK(!has_credits_ && storm.traffic_class < classes_, "a pause storm of a class under PFC");
    const std::uint32_t nic = graph_->nic_of(storm.gpu), port = graph_->first_port(nic);
    add_timer(nic, storm.begin.value, TimerKind::storm_begins, port, storm.traffic_class);
    add_timer(nic, storm.end.value, TimerKind::storm_ends, port, storm.traffic_class);
}

// The NIC behaves as a full queue does: its pause is repeated until it ends.
void Partition::begin_storm(std::uint32_t port, std::uint32_t klass) {
    ingress_[port * classes_ + klass].is_paused = true;
    refresh_pause(port, klass);
}

void Partition::end_storm(std::uint32_t port, std::uint32_t klass) {
    ingress_[port * classes_ + klass].is_paused = false;
    send_pause(port, klass, 0);
}

// One timer per class that was ever paused, however often it is.
void Partition::watch(std::uint32_t port, std::uint32_t klass) {
    PauseState& pause = pauses_[port * classes_ + klass];
    pause.since = now_;
    const std::uint32_t node = graph_->port(port).node;
    if (pause.is_watched || spec_->pfc.watchdog == SimDuration{0} || !graph_->is_switch(node)) return;
    pause.is_watched = true;
    add_timer(node, now_ + spec_->pfc.watchdog.value, TimerKind::watchdog, port, klass);
}

void Partition::look_at_pause(std::uint32_t port, std::uint32_t klass) {
    PauseState& pause = pauses_[port * classes_ + klass];
    const std::uint32_t node = graph_->port(port).node, bit = 1u << klass;
    Egress& egress = egress_[port];
    const bool is_paused = (egress.paused & bit) != 0;
    const std::int64_t restore = now_ + spec_->pfc.watchdog_restore.value;
    if ((egress.discarding & bit) != 0) {
        if (is_paused) return add_timer(node, restore, TimerKind::watchdog, port, klass);
        egress.discarding &= ~bit;
    }
    pause.is_watched = is_paused;
    if (!is_paused) return;
    const std::int64_t due = pause.since + spec_->pfc.watchdog.value;
    if (due > now_) return add_timer(node, due, TimerKind::watchdog, port, klass);
    egress.discarding |= bit;
    ++counters_[port].watchdogs;
    add_timer(node, restore, TimerKind::watchdog, port, klass);
    empty_queue(port, klass);
}

void Partition::empty_queue(std::uint32_t port, std::uint32_t klass) {
    PortQueue& queue = queues_[port * classes_ + klass];
    const std::uint32_t node = graph_->port(port).node;
    while (queue.bytes > 0) {
        PacketSlot& slot = next_queued(port, klass);
        ++counters_[port].discards;
        release(slot.packet, node);
        pool_.give_back(slot);
    }
    egress_[port].waiting &= ~(1u << klass);
}

void Partition::discard(std::uint32_t port, const Packet& packet) {
    ++counters_[port].discards;
    release(packet, graph_->port(port).node);
}

}  // namespace rehearse

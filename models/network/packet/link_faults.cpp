#include "models/network/packet/link_faults.hpp"

#include <algorithm>
#include <cmath>

#include "models/network/packet/partition.hpp"
#include "models/network/packet/probability.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

}  // namespace

void PacketEngine::add_fault(const LinkFault& fault) {
    REHEARSE_CHECK(fault.begin < fault.end, "a fault ends after it begins");
    REHEARSE_CHECK(fault.factor > Ratio{0.0} && fault.burst > 0, "a link with a rate, a burst of frames");
    if (link_states_.empty()) {
        link_states_.resize(graph_->port_count());
        for (std::uint32_t p = 0; p < graph_->port_count(); ++p) link_states_[p].byte_time = graph_->port(p).byte_time;
        has_faults_ = has_link_layer_ = true;
    }
    faults_.push_back({fault, {}});
    std::vector<std::uint32_t>& ports = faults_.back().ports;
    if (fault.kind == LinkFaultKind::dead_switch) {
        const std::uint32_t node = graph_->node_of(fault.vertex);
        REHEARSE_CHECK(node != none, "a dead switch that has no Ethernet link");
        for (std::uint32_t i = 0; i < graph_->ports_of(node); ++i) ports.push_back(graph_->first_port(node) + i);
    } else {
        ports.push_back(graph_->port_of(fault.link));
        REHEARSE_CHECK(ports.front() != none, "a fault of a link that is no Ethernet link");
    }
    if (fault.kind != LinkFaultKind::lossy) {  // both ways
        const std::size_t count = ports.size();
        for (std::size_t i = 0; i < count; ++i) ports.push_back(graph_->port(ports[i]).peer);
    }
    for (const std::uint32_t port : ports) {
        add_timer(graph_->port(port).node, fault.begin.value, TimerKind::fault, port);
        if (fault.end.value != INT64_MAX) add_timer(graph_->port(port).node, fault.end.value, TimerKind::fault, port);
    }
    plan_routes();
    const SimDuration delay = detection_delay(spec_->detection);
    const bool is_dead = fault.kind == LinkFaultKind::down || fault.kind == LinkFaultKind::dead_switch;
    if (spec_->detection.mode != DetectionMode::switch_event || !is_dead || fault.end - fault.begin <= delay) return;
    for (std::uint32_t nic = 0; nic < graph_->nic_count(); ++nic) {
        add_timer(nic, (fault.begin + delay).value, TimerKind::host_event, 0);
    }
}

// Something begins or ends at this port: its state afresh, from all faults that hold now.
void Partition::update_link(std::uint32_t port) {
    LinkCondition& link = link_states_[port];
    const bool was_down = link.is_down;
    link = {.byte_time = graph_->port(port).byte_time, .up_since = link.up_since};
    double factor = 1;
    for (const PortFault& each : faults_) {
        const LinkFault& fault = each.fault;
        if (fault.begin.value > now_ || fault.end.value <= now_) continue;
        if (std::find(each.ports.begin(), each.ports.end(), port) == each.ports.end()) continue;
        link.is_down |= fault.kind == LinkFaultKind::down || fault.kind == LinkFaultKind::dead_switch;
        if (fault.kind == LinkFaultKind::slow) factor *= fault.factor.value;
        if (fault.kind != LinkFaultKind::lossy) continue;
        link.data_loss = std::max(link.data_loss, probability_threshold(fault.data_loss));
        link.control_loss = std::max(link.control_loss, probability_threshold(fault.control_loss));
        link.burst = static_cast<std::uint64_t>(fault.burst);
    }
    if (factor != 1) {
        link.byte_time = static_cast<std::uint64_t>(std::llround(static_cast<double>(link.byte_time) / factor));
    }
    if (link.is_down && !was_down) lose_link(port);
    if (!link.is_down && was_down) restore_link(port);
}

// Flow control and retry of both directions forget what was on the link.
void Partition::lose_link(std::uint32_t port) {
    if (has_retry_) retry_send_[port].clear();
    for (std::uint32_t klass = 0; klass < classes_; ++klass) {
        if (has_credits_) credit_send_[port * classes_ + klass] = {};
        pauses_[port * classes_ + klass].begins = INT64_MAX;
        pauses_[port * classes_ + klass].ends = INT64_MIN;
        unblock(port, klass);
    }
    serve(port);
}

void Partition::restore_link(std::uint32_t port) {
    link_states_[port].up_since = now_;
    for (std::uint32_t klass = 0; has_credits_ && klass < classes_; ++klass) {
        CreditReceive& receive = credit_receive_[port * classes_ + klass];
        receive = {.arrived = 0, .freed = (0 - receive.held()) & credit_mask, .told = 0};
        tell_credits(port, klass);  // what is still held here of the time before
    }
}

// Whether this incoming frame was on the link when it was down.
bool Partition::is_cut(std::uint32_t port, const Packet& packet) {
    const LinkCondition& link = link_states_[port];
    if (!link.is_down && packet.time - graph_->port(port).latency >= link.up_since) return false;
    if (!has(packet, PacketFlag::corrupted)) ++counters_[port].losses;
    return true;
}

void Partition::enter_faulty_link(std::uint32_t port, Packet& packet) {
    const LinkCondition& link = link_states_[port];
    const std::uint64_t threshold = packet.kind == PacketKind::data ? link.data_loss
                                    : is_numbered(packet.kind)      ? link.control_loss
                                                                    : 0;
    if (!link.is_down && (threshold == 0 || !draw_loss(port, threshold, link.burst))) return;
    packet.flags |= PacketFlag::corrupted;
    ++counters_[port].losses;
}

// One draw per `burst` frames.
bool Partition::draw_loss(std::uint32_t port, std::uint64_t threshold, std::uint64_t burst) {
    std::uint64_t state = seed_ ^ (std::uint64_t{port} << 40) ^ egress_[port].loss_counter++ / burst;
    return splitmix64(state) < threshold;
}

}  // namespace rehearse

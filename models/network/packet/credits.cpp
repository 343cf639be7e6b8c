#include "models/network/packet/credits.hpp"

#include <algorithm>
#include <string>

#include "models/network/packet/partition.hpp"
#include "models/network/packet/probability.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

namespace {

constexpr std::uint16_t update_wire = 8;       // control ordered set of the PCS: neither preamble nor gap
constexpr std::uint16_t check_wire = 64 + 20;  // a packet, for all classes
// A sender that hears nothing for so long (8 s at 256 us) has lost its peer; its packets wait for their timeouts.
constexpr std::uint32_t silent_max = 32'768;

[[noreturn]] void refuse(std::string path, std::string wrong, std::string expected) {
    Fault fault;
    fault.path = "models.network.packet." + std::move(path);
    fault.wrong = std::move(wrong);
    fault.expected = std::move(expected);
    throw InputError({fault});
}

}  // namespace

Bytes cbfc_buffer(const CreditInput& input) {
    const std::int64_t wire = input.wire_max.value;
    const std::int64_t charged = (wire + input.credit.value - 1) / input.credit.value * input.credit.value;
    const std::int64_t loop = (input.rate * input.loop).value + wire + update_wire;
    const std::int64_t spacing = (input.update_spacing.value + charged - 1) / charged;  // packets per CF_Update
    return Bytes{((loop + wire - 1) / wire + spacing) * charged};
}

// One check for the whole fabric: all ports of a switch must find room in its memory.
void PacketEngine::fill_credits(Bytes wire_max) {
    const CbfcSpec& cbfc = spec_->cbfc;
    if (cbfc.credit <= Bytes{0}) refuse("cbfc.credit", "credits without bytes", "more than 0 B, 128 B is usual");
    if (cbfc.update_loss.value < 0 || cbfc.update_loss.value >= 1)
        refuse("cbfc.update_loss", "every CF_Update is lost", "0 or more and less than 1");
    const std::uint32_t needed = credits_of(cbfc, wire_max.value) + credits_of(cbfc, cbfc.update_spacing.value);
    credit_send_.resize(queues_.size());
    credit_receive_.resize(queues_.size());
    credit_ports_.resize(graph_->port_count());
    update_loss_threshold_ = probability_threshold(cbfc.update_loss);
    std::vector<std::int64_t> room(graph_->node_count(), 0);
    for (std::uint32_t p = 0; p < graph_->port_count(); ++p) {
        const GraphPort& port = graph_->port(p);
        const Bandwidth rate = graph_->cluster().link(port.link).rate;
        const CreditInput input{rate, SimDuration{graph_->loop_latency(p)}, wire_max, cbfc.credit, cbfc.update_spacing};
        const Bytes buffer = cbfc.buffer > Bytes{0} ? cbfc.buffer : cbfc_buffer(input);
        const std::int64_t limit = buffer.value / cbfc.credit.value;
        if (limit < needed) {
            refuse("cbfc.buffer", std::to_string(limit) + " credits per class",
                   "at least " + std::to_string(needed) + ": one full packet and the spacing of CF_Updates");
        }
        if (limit > credit_mask / 2) {
            refuse("cbfc.buffer", std::to_string(limit) + " credits per class", "at most 2^19 - 1");
        }
        credit_ports_[p].limit = static_cast<std::uint32_t>(limit);
        room[graph_->port(port.peer).node] += buffer.value * classes_;
    }
    const std::int64_t pool = spec_->buffer.pool.value;
    for (std::uint32_t node = graph_->nic_count(); node < graph_->node_count(); ++node) {
        if (!is_on(spec_->buffer.bounded) || room[node] <= pool) continue;
        refuse("cbfc.buffer", std::to_string(room[node]) + " B of credits at one switch",
               "no more than its memory of " + std::to_string(pool) + " B");
    }
}

std::uint64_t PacketEngine::credits_out() const {
    std::uint64_t sum = 0;
    for (const CreditSend& send : credit_send_) sum += send.used();
    return sum;
}

// Takes the credits of a packet that wants to leave, or holds its class until a CF_Update comes.
bool Partition::spend_credits(std::uint32_t port, std::uint32_t klass, std::uint32_t wire) {
    if (has_faults_ && link_states_[port].is_down) return true;  // into the void
    CreditPort& link = credit_ports_[port];
    if (!credit_send_[port * classes_ + klass].take(credits_of(wire), link.limit)) {
        block(port, klass);
        return false;
    }
    if (!link.is_checking) {
        link.is_checking = true;
        add_timer(graph_->port(port).node, now_ + spec_->cbfc.repair.value, TimerKind::credit_check, port);
    }
    return true;
}

// A packet that came in by `port` has left this node's buffer.
void Partition::free_credits(std::uint32_t port, std::uint32_t klass, std::uint32_t wire) {
    CreditReceive& receive = credit_receive_[port * classes_ + klass];
    receive.free(credits_of(wire));
    if (receive.untold() * spec_->cbfc.credit.value >= spec_->cbfc.update_spacing.value) tell_credits(port, klass);
}

void Partition::tell_credits(std::uint32_t port, std::uint32_t klass) {
    CreditReceive& receive = credit_receive_[port * classes_ + klass];
    receive.told = receive.freed;
    Packet packet;
    packet.kind = PacketKind::credit;
    packet.number = klass;
    packet.stamp = receive.freed;
    packet.wire = update_wire;
    std::uint64_t state = seed_ ^ hash_name("cf_update") ^ (std::uint64_t{port} << 40) ^ credit_ports_[port].updates++;
    if (update_loss_threshold_ != 0 && splitmix64(state) < update_loss_threshold_) {
        packet.flags |= PacketFlag::corrupted;
        ++counters_[port].losses;
    }
    push_urgent(port, packet);
    serve(port);
}

void Partition::receive_credit(std::uint32_t port, const Packet& packet) {
    credit_send_[port * classes_ + packet.number].freed = static_cast<std::uint32_t>(packet.stamp);
    credit_ports_[port].silent = 0;
    unblock(port, packet.number);
}

// CC_Update: one packet tells the counters of all classes with credits out; it is carried here as one record per class,
// of which the first has all the bytes.
void Partition::check_credits(std::uint32_t port) {
    CreditPort& link = credit_ports_[port];
    link.is_checking = false;
    if (link.silent > silent_max) return;
    Packet packet;
    packet.kind = PacketKind::credit_check;
    packet.wire = check_wire;
    for (std::uint32_t klass = 0; klass < classes_; ++klass) {
        const CreditSend& send = credit_send_[port * classes_ + klass];
        if (send.used() == 0) continue;
        packet.number = klass;
        packet.stamp = send.consumed;
        push_urgent(port, packet);
        packet.wire = 0;
    }
    if (packet.wire != 0) return;  // all credits are back
    ++link.silent;
    link.is_checking = true;
    add_timer(graph_->port(port).node, now_ + spec_->cbfc.repair.value, TimerKind::credit_check, port);
    serve(port);
}

void Partition::receive_credit_check(std::uint32_t port, const Packet& packet) {
    credit_receive_[port * classes_ + packet.number].repair(static_cast<std::uint32_t>(packet.stamp));
    tell_credits(port, packet.number);
}

}  // namespace rehearse

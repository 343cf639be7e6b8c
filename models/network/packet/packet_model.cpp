#include "models/network/packet/packet_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/fault.hpp"

namespace rehearse {

PacketModel::PacketModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec,
                         const PacketSpec& packet, std::uint64_t seed)
    : cluster_(&cluster), network_(spec), packet_(packet), graph_(cluster, router),
      engine_(graph_, network_, packet_, seed), paths_(cluster, router, spec) {}

FlowId PacketModel::start(SimTime at, const TransferRequest& request) {
    const std::uint32_t index = new_transfer();
    const auto size = detail::round_up_to_int64(static_cast<double>(request.size.value) / request.efficiency);
    std::vector<Bundle>& idle =
        idle_[{request.pattern, size, request.steps, {request.gpus.begin(), request.gpus.end()}}];
    Bundle bundle;
    if (!take_over(idle, at, bundle)) bundle = open(request, at);
    transfers_[index] = {request.token, bundle.count + 1, at + bundle.inside, bundle, &idle};
    for (std::uint32_t c = bundle.first; c < bundle.first + bundle.count; ++c) {
        tails_[c].transfer = index;
        tails_[c].place = static_cast<std::uint32_t>(active_.size());
        active_.push_back(c);
        quiet_until_ = std::min(quiet_until_, engine_.delivered_earliest(c, now_));
    }
    const TransferPaths::Prepared prepared = paths_.prepare(request);
    paths_.count(prepared.index, static_cast<double>(request.size.value), prepared.wire_ratio);
    if (!prepared.is_kept) paths_.release(prepared.index);
    ++transfer_count_;
    payload_ += static_cast<double>(request.size.value);
    close_part(index, at);  // this call: a transfer inside a node has no other part
    return FlowId{index};
}

std::uint32_t PacketModel::new_transfer() {
    if (free_.empty()) {
        transfers_.emplace_back();
        return static_cast<std::uint32_t>(transfers_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
}

// The oldest bundle whose senders hold all their ACKs.
bool PacketModel::take_over(std::vector<Bundle>& idle, SimTime at, Bundle& bundle) {
    const auto found = std::find_if(idle.begin(), idle.end(), [&](const Bundle& candidate) {
        for (std::uint32_t c = candidate.first; c < candidate.first + candidate.count; ++c) {
            if (!engine_.may_repeat(c)) return false;
        }
        return true;
    });
    if (found == idle.end()) return false;
    bundle = *found;
    idle.erase(found);
    for (std::uint32_t c = bundle.first; c < bundle.first + bundle.count; ++c) {
        retransmissions_ += engine_.results()[c].retransmissions;
        engine_.repeat(c, at);
    }
    return true;
}

PacketModel::Bundle PacketModel::open(const TransferRequest& request, SimTime at) {
    TransferConnections made = expand_transfer(request, *cluster_, network_.ecmp.queue_pairs);
    const auto first = static_cast<std::uint32_t>(tails_.size());
    for (std::size_t i = 0; i < made.requests.size(); ++i) {
        ConnectionRequest& connection = made.requests[i];
        connection.start = at;
        if (connection.successors[0] != no_connection) connection.successors[0] += first;
        const std::uint32_t id = engine_.connect(connection);
        REHEARSE_CHECK(id == tails_.size(), "connections are numbered in order");
        tails_.push_back({0, made.behind[i]});
    }
    return {first, static_cast<std::uint32_t>(made.requests.size()), made.inside};
}

void PacketModel::close_part(std::uint32_t index, SimTime at) {
    Transfer& transfer = transfers_[index];
    transfer.end = std::max(transfer.end, at);
    if (--transfer.open == 0) ended_.push({transfer.end, FlowId{index}, transfer.token});
}

// In order of their times, but for one whose last moments are near: there the engine steps from event to event.
SimTime PacketModel::next_event_time() {
    const SimTime event = engine_.next_event_time();
    SimTime next = event;
    if (event < SimTime{INT64_MAX}) {
        if (quiet_until_ <= event) {
            quiet_until_ = SimTime{INT64_MAX};
            for (const std::uint32_t c : active_)
                quiet_until_ = std::min(quiet_until_, engine_.delivered_earliest(c, event));
        }
        if (!active_.empty()) next = std::max(event, quiet_until_);
    }
    return ended_.empty() ? next : std::min(next, ended_.top().at);
}

void PacketModel::advance(SimTime to, std::vector<Completion>& done) {
    engine_.run(to);
    now_ = to;
    for (const std::uint32_t connection : engine_.take_ended()) close(connection);
    while (!ended_.empty() && ended_.top().at <= to) {
        const std::uint32_t index = ended_.top().flow.value;
        done.push_back(ended_.top());
        ended_.pop();
        if (transfers_[index].bundle.count > 0) transfers_[index].home->push_back(transfers_[index].bundle);
        free_.push_back(index);
    }
}

void PacketModel::close(std::uint32_t connection) {
    const ConnectionResult& result = engine_.results()[connection];
    if (result.state == ConnectionState::failed) {
        Fault fault;
        fault.path = "models.network.packet.transport.retries";
        fault.wrong = fmt::format("a queue pair gave up after {} timeouts at {:.6g} s", result.timeouts,
                                  result.finished.seconds());
        fault.expected = "a network that delivers";
        fault.todo = "lower the loss, or raise retries or timeout_exponent";
        throw InputError({fault});
    }
    deactivate(connection);
    close_part(tails_[connection].transfer, result.delivered + tails_[connection].behind);
}

void PacketModel::deactivate(std::uint32_t connection) {
    const std::uint32_t place = tails_[connection].place;
    active_[place] = active_.back();
    tails_[active_[place]].place = place;
    active_.pop_back();
}

const LinkTraffic& PacketModel::traffic() const {
    traffic_.bytes = paths_.carried();
    for (std::uint32_t p = 0; p < graph_.port_count(); ++p)
        traffic_.bytes[graph_.port(p).link.value] = static_cast<double>(engine_.counters()[p].bytes);
    traffic_.busy_seconds.resize(traffic_.bytes.size());
    for (std::size_t link = 0; link < traffic_.bytes.size(); ++link)
        traffic_.busy_seconds[link] = traffic_.bytes[link] / cluster_->links()[link].rate.bytes_per_second();
    return traffic_;
}

PacketShare PacketModel::packet_share() const {
    const PortCounters total = total_of(engine_.counters());
    PacketShare share;
    share.payload = share.payload_all = payload_;
    share.transfers = share.transfers_all = transfer_count_;
    share.transmissions = total.data + total.control;
    share.retransmissions = retransmissions_;
    for (const ConnectionResult& result : engine_.results()) share.retransmissions += result.retransmissions;
    share.pauses = total.pauses;
    share.marks = total.marks;
    share.drops = total.drops;
    return share;
}

}  // namespace rehearse

#include "models/network/packet/packet_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/fault.hpp"

namespace rehearse {

PacketModel::PacketModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec,
                         const PacketSpec& packet, std::uint64_t seed)
    : cluster_(&cluster), network_(spec), packet_(packet), graph_(cluster, router),
      engine_(graph_, network_, packet_, seed) {}

SimDuration PacketModel::inside(GpuId from, Bytes size) const {
    const Link& up = cluster_->link(cluster_->out_links(cluster_->gpu_vertex(from)).front());
    return size / up.rate + up.latency * 2;
}

FlowId PacketModel::start(SimTime at, const TransferRequest& request) {
    TransferRequest whole = request;
    whole.size = Bytes{detail::round_up_to_int64(static_cast<double>(request.size.value) / request.efficiency)};
    std::uint32_t index = static_cast<std::uint32_t>(transfers_.size());
    if (free_.empty()) {
        transfers_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    transfers_[index] = {request.token, 1, at};  // one open part: this call
    const auto n = static_cast<std::int64_t>(request.gpus.size());
    REHEARSE_CHECK(n >= 2, "a transfer needs two ends");
    switch (request.pattern) {
        case TransferPattern::point_to_point:
            start_pair(at, request.gpus[0], request.gpus[1], whole.size, index);
            break;
        case TransferPattern::ring:
            start_ring(at, whole, index);
            break;
        case TransferPattern::all_to_all:
            for (const GpuId from : request.gpus) {
                for (const GpuId to : request.gpus) {
                    if (from != to) start_pair(at, from, to, Bytes{whole.size.value / (n - 1)}, index);
                }
            }
            break;
    }
    close_part(index, at);
    return FlowId{index};
}

void PacketModel::start_pair(SimTime at, GpuId from, GpuId to, Bytes size, std::uint32_t transfer) {
    if (from == to) return;
    if (cluster_->node_of(from) == cluster_->node_of(to)) {
        transfers_[transfer].end = std::max(transfers_[transfer].end, at + inside(from, size));
        return;
    }
    const std::int64_t pairs = std::max<std::int64_t>(1, network_.ecmp.queue_pairs);
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
        ConnectionRequest request;
        request.source = from;
        request.destination = to;
        request.message = Bytes{size.value / pairs + (pair < size.value % pairs ? 1 : 0)};
        request.start = at;
        request.queue_pair = static_cast<std::uint32_t>(pair);
        open(request, transfer, SimDuration{0});
    }
}

// Connections of the hops that leave a node, in ring order; each grants the next one, however many NVLink hops lie
// between.
void PacketModel::start_ring(SimTime at, const TransferRequest& request, std::uint32_t transfer) {
    const std::size_t n = request.gpus.size();
    const Bytes message{std::max<std::int64_t>(1, request.size.value / request.steps)};
    const auto leaves = [&](std::size_t i) {
        return cluster_->node_of(request.gpus[i]) != cluster_->node_of(request.gpus[(i + 1) % n]);
    };
    std::size_t first = 0;
    while (first < n && !leaves(first)) ++first;
    if (first == n) {
        transfers_[transfer].end = at + inside(request.gpus[0], message) * request.steps;
        return;
    }
    const std::uint32_t base = static_cast<std::uint32_t>(tails_.size());
    std::vector<std::size_t> hops;
    for (std::size_t k = 0; k < n; ++k) {
        if (leaves((first + k) % n)) hops.push_back((first + k) % n);
    }
    for (std::size_t h = 0; h < hops.size(); ++h) {
        const std::size_t before = hops[(h + hops.size() - 1) % hops.size()];
        const std::size_t between = (hops[h] + n - before - 1) % n;           // NVLink hops since the last one
        const std::size_t after = (hops[(h + 1) % hops.size()] + n - hops[h] - 1) % n;
        ConnectionRequest hop;
        hop.source = request.gpus[hops[h]];
        hop.destination = request.gpus[(hops[h] + 1) % n];
        hop.message = message;
        hop.messages = request.steps;
        hop.start = at;
        hop.granted = static_cast<std::int64_t>(1 + between);
        hop.successors[0] = base + static_cast<std::uint32_t>((h + 1) % hops.size());
        hop.successor_delay = inside(hop.destination, message) * static_cast<std::int64_t>(after);
        open(hop, transfer, hop.successor_delay);
    }
}

void PacketModel::open(const ConnectionRequest& request, std::uint32_t transfer, SimDuration behind) {
    const std::uint32_t id = engine_.connect(request);
    REHEARSE_CHECK(id == tails_.size(), "connections are numbered in order");
    tails_.push_back({transfer, behind});
    ++transfers_[transfer].open;
}

void PacketModel::close_part(std::uint32_t index, SimTime at) {
    Transfer& transfer = transfers_[index];
    transfer.end = std::max(transfer.end, at);
    if (--transfer.open == 0) ended_.push({transfer.end, FlowId{index}, transfer.token});
}

SimTime PacketModel::next_event_time() {
    const SimTime engine = engine_.next_event_time();
    return ended_.empty() ? engine : std::min(engine, ended_.top().at);
}

void PacketModel::advance(SimTime to, std::vector<Completion>& done) {
    engine_.run(to);
    for (const std::uint32_t connection : engine_.take_ended()) {
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
        close_part(tails_[connection].transfer, result.delivered + tails_[connection].behind);
    }
    while (!ended_.empty() && ended_.top().at <= to) {
        done.push_back(ended_.top());
        free_.push_back(ended_.top().flow.value);
        ended_.pop();
    }
}

const LinkTraffic& PacketModel::traffic() const {
    traffic_.bytes.assign(cluster_->links().size(), 0);
    traffic_.busy_seconds.assign(cluster_->links().size(), 0);
    for (std::uint32_t p = 0; p < graph_.port_count(); ++p) {
        const std::uint32_t link = graph_.port(p).link.value;
        traffic_.bytes[link] = static_cast<double>(engine_.counters()[p].bytes);
        traffic_.busy_seconds[link] = traffic_.bytes[link] / cluster_->links()[link].rate.bytes_per_second();
    }
    return traffic_;
}

}  // namespace rehearse

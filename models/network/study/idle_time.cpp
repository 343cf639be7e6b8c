#include "models/network/study/idle_time.hpp"

#include <algorithm>

#include "models/network/framing.hpp"

namespace rehearse {

namespace {

bool is_slower(Bandwidth rate, Bandwidth known) { return known.value == 0 || rate < known; }

}  // namespace

IdleTimes::IdleTimes(const Cluster& cluster, const Router& router, const NetworkSpec& network, Switch pad_last)
    : cluster_(&cluster), router_(&router), network_(network), pad_last_(pad_last) {}

Bytes IdleTimes::wire(Bytes message) const {
    const std::int64_t mtu = network_.mtu.value;
    const std::int64_t whole = std::max<std::int64_t>(1, (message.value + mtu - 1) / mtu) * mtu;
    return wire_bytes(network_.framing, is_on(pad_last_) ? Bytes{whole} : message, network_.mtu);
}

IdlePath IdleTimes::path(const StudyFlow& flow) const {
    IdlePath path;
    const Bytes first = wire(std::min(flow.message, network_.mtu)), ack = control_wire_bytes(network_.framing);
    SimDuration first_on_slowest;
    const Path links = router_->route({flow.source, flow.destination, 0});
    for (const LinkId id : links.links()) {
        const Link& link = cluster_->link(id);
        path.latency += link.latency;
        if (link.tier < LinkTier::host) {
            if (is_slower(link.rate, path.slowest_inside)) path.slowest_inside = link.rate;
            continue;
        }
        path.store_and_forward += first / link.rate;
        path.ack_return += link.latency + ack / link.rate;
        if (!is_slower(link.rate, path.slowest_ethernet)) continue;
        path.slowest_ethernet = link.rate;
        first_on_slowest = first / link.rate;
    }
    path.store_and_forward += -first_on_slowest;
    return path;
}

SimDuration IdleTimes::moving(const IdlePath& path, Bytes message, std::int64_t messages) const {
    SimDuration moving;
    if (path.slowest_ethernet.value > 0) moving = wire(message) * messages / path.slowest_ethernet;
    if (path.slowest_inside.value > 0) moving = std::max(moving, message * messages / path.slowest_inside);
    return moving;
}

SimDuration IdleTimes::one_way(const IdlePath& path, Bytes message, std::int64_t messages) const {
    return moving(path, message, messages) + path.latency + path.store_and_forward;
}

// The last message of a ring's flow has come around over the hops before it, one for each of its messages. All members
// send at once, so that none gets ahead of the slowest hop.
void IdleTimes::add_ring(std::span<const StudyFlow> ring, std::span<SimDuration> times) const {
    const std::size_t n = ring.size();
    std::vector<SimDuration> before(2 * n + 1);  // sums over the hops of two laps
    SimDuration slowest;
    for (std::size_t i = 0; i < 2 * n; ++i) {
        const IdlePath hop = path(ring[i % n]);
        before[i + 1] = before[i] + hop.latency + hop.store_and_forward;
        slowest = std::max(slowest, moving(hop, ring[i % n].message, 1));
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto laps = ring[i].messages / static_cast<std::int64_t>(n);
        const auto rest = static_cast<std::size_t>(ring[i].messages) % n;
        times[i] += slowest * ring[i].messages + before[n] * laps + before[n + i + 1] - before[n + i + 1 - rest];
    }
}

std::vector<SimDuration> IdleTimes::completions(const std::vector<StudyFlow>& flows) const {
    std::vector<SimDuration> times;
    for (const StudyFlow& flow : flows) times.push_back(path(flow).ack_return);
    for (std::size_t begin = 0, end = 0; begin < flows.size(); begin = end) {
        const StudyFlow& flow = flows[begin];
        end = begin + 1;
        while (flow.ring != 0 && end < flows.size() && flows[end].ring == flow.ring) ++end;
        if (flow.ring == 0) times[begin] += one_way(path(flow), flow.message, flow.messages);
        else add_ring({&flow, end - begin}, {&times[begin], end - begin});
    }
    return times;
}

}  // namespace rehearse

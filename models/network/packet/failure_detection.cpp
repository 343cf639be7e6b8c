#include "models/network/packet/failure_detection.hpp"

#include <algorithm>

#include "models/network/packet/partition.hpp"

namespace rehearse {

namespace {

struct ModeRow {
    std::string_view name;
    SimDuration detect, react;
};

const ModeRow& row_of(DetectionMode mode) {
    static constexpr ModeRow rows[] = {{"app_timeout", SimDuration{INT64_MAX}, SimDuration{0}},
                                       {"bfd_software", milliseconds(300), milliseconds(20)},
                                       {"link_down_software", SimDuration{0}, milliseconds(20)},
                                       {"asic_local", SimDuration{0}, microseconds(10)},
                                       {"switch_event", milliseconds(1), milliseconds(2)}};
    return rows[static_cast<std::size_t>(mode)];
}

}  // namespace

std::string_view name(DetectionMode mode) { return row_of(mode).name; }

SimDuration detection_delay(const DetectionSpec& spec) {
    const ModeRow& row = row_of(spec.mode);
    const SimDuration detect = spec.detect > SimDuration{0} ? spec.detect : row.detect;
    const SimDuration react = spec.react > SimDuration{0} ? spec.react : row.react;
    return detect == SimDuration{INT64_MAX} ? detect : detect + react;
}

// All moments at which paths change, from all faults that last long enough to be noticed.
void PacketEngine::plan_routes() {
    const SimDuration delay = detection_delay(spec_->detection);
    route_changes_.clear();
    if (delay == SimDuration{INT64_MAX}) return;
    std::vector<const PortFault*> noticed;
    std::vector<std::int64_t> times;
    for (const PortFault& each : faults_) {
        const LinkFault& fault = each.fault;
        const bool is_dead = fault.kind == LinkFaultKind::down || fault.kind == LinkFaultKind::dead_switch;
        if (!is_dead || fault.end - fault.begin <= delay) continue;
        noticed.push_back(&each);
        times.push_back((fault.begin + delay).value);
        if (fault.end.value != INT64_MAX) times.push_back((fault.end + delay).value);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    for (const std::int64_t time : times) {
        RouteChange change{time, {}};
        for (const PortFault* each : noticed) {
            const bool is_over = each->fault.end.value != INT64_MAX && (each->fault.end + delay).value <= time;
            if ((each->fault.begin + delay).value > time || is_over) continue;
            change.dead.insert(change.dead.end(), each->ports.begin(), each->ports.end());
        }
        std::sort(change.dead.begin(), change.dead.end());
        route_changes_.push_back(std::move(change));
    }
}

// The ports to avoid now; moves `epoch` on. True when they are others than at the last look.
bool Partition::look_at_routes(std::uint32_t& epoch) const {
    const std::uint32_t before = epoch;
    while (epoch < route_changes_.size() && route_changes_[epoch].time <= now_) ++epoch;
    return epoch != before;
}

std::span<const std::uint32_t> Partition::dead_ports(std::uint32_t epoch) const {
    if (epoch == 0) return {};
    return route_changes_[epoch - 1].dead;
}

// After a change: as the switches hash it; where that is dead, one of the paths left, or any when there is none.
void Partition::refresh_route(const FlowKey& key, std::uint32_t& epoch, PacketRoute& route) const {
    if (!look_at_routes(epoch)) return;
    const std::span<const std::uint32_t> dead = dead_ports(epoch);
    route = graph_->route(key);
    if (graph_->is_live(key.source, route, dead)) return;
    const std::uint64_t draw = seed_ ^ (std::uint64_t{key.source.value} << 40) ^
                               (std::uint64_t{key.destination.value} << 16) ^ key.queue_pair;
    route = graph_->route_around(key.source, key.destination, draw, dead);
}

// switch_event: this NIC's queue pairs whose packets or ACKs cross a dead link begin again on another path.
void Partition::hear_event(std::uint32_t node) {
    for (std::uint32_t id = 0; id < senders_.size(); ++id) {
        SendEnd& end = senders_[id];
        if (end.node != node || results_[id].state != ConnectionState::active || end.acked == end.sent) continue;
        std::uint32_t epoch = end.route_epoch;
        look_at_routes(epoch);
        const ConnectionRequest& request = requests_[id];
        const PacketRoute back = graph_->route(request.back());
        if (graph_->is_live(request.source, end.route, dead_ports(epoch)) &&
            graph_->is_live(request.destination, back, dead_ports(epoch))) continue;
        if (end.deadline != INT64_MAX) results_[id].stalled += SimDuration{now_ - (end.deadline - timeout_of(end))};
        begin_again(end);
        make_ready(id);
    }
}

}  // namespace rehearse

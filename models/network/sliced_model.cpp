#include "models/network/sliced_model.hpp"

#include <algorithm>

#include "models/network/packet_effort.hpp"

namespace rehearse {

SlicedModel::SlicedModel(const Cluster& cluster, const Router& router, const NetworkSpec& network,
                         const PacketSpec& packet, TrafficSlice slice, std::uint64_t seed)
    : cluster_(&cluster), router_(&router), slice_(std::move(slice)), flows_(cluster, router, network),
      packets_(cluster, router, network, packet, seed) {}

// Flows keep even numbers and packets odd ones, so that both can be told apart.
FlowId SlicedModel::start(SimTime at, const TransferRequest& request) {
    if (goes_by_packet(request, *cluster_, *router_)) {
        ++transfers_;
        const double payload = payload_between_nodes(request, *cluster_);
        payload_all_ += payload;
        if (slice_.holds(at, request)) {
            payload_ += payload;
            return FlowId{packets_.start(at, request).value * 2 + 1};
        }
    }
    return FlowId{flows_.start(at, request).value * 2};
}

SimTime SlicedModel::next_event_time() { return std::min(flows_.next_event_time(), packets_.next_event_time()); }

void SlicedModel::advance(SimTime to, std::vector<Completion>& done) {
    const auto first = static_cast<std::ptrdiff_t>(done.size());
    take(flows_, to, 0, done);
    take(packets_, to, 1, done);
    std::sort(done.begin() + first, done.end(), [](const Completion& a, const Completion& b) {
        return a.at != b.at ? a.at < b.at : a.flow < b.flow;
    });
}

void SlicedModel::take(NetworkModel& model, SimTime to, std::uint32_t parity, std::vector<Completion>& done) {
    const std::size_t first = done.size();
    model.advance(to, done);
    for (std::size_t i = first; i < done.size(); ++i) done[i].flow = FlowId{done[i].flow.value * 2 + parity};
}

const LinkTraffic& SlicedModel::traffic() const {
    traffic_ = flows_.traffic();
    const LinkTraffic& packets = packets_.traffic();
    for (std::size_t link = 0; link < traffic_.bytes.size(); ++link) {
        traffic_.bytes[link] += packets.bytes[link];
        traffic_.busy_seconds[link] += packets.busy_seconds[link];
    }
    return traffic_;
}

double SlicedModel::shared_part() const {
    const LinkTraffic& flows = flows_.traffic();
    const LinkTraffic& packets = packets_.traffic();
    double shared = 0, all = 0;
    for (std::size_t link = 0; link < packets.bytes.size(); ++link) {
        all += packets.bytes[link];
        if (flows.bytes[link] > 0) shared += packets.bytes[link];
    }
    return all > 0 ? shared / all : 0;
}

PacketShare SlicedModel::packet_share() const {
    PacketShare share = packets_.packet_share();
    share.payload = payload_;
    share.payload_all = payload_all_;
    share.transfers_all = transfers_;
    share.shared = shared_part();
    return share;
}

}  // namespace rehearse

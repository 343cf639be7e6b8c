#include "models/network/packet_effort.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace rehearse {

namespace {

// Of each transfer of a record; equal ones are counted once.
class TransmissionCount {
public:
    TransmissionCount(const TransferRecord& record, const FabricGraph& graph, const Router& router,
                      const NetworkSpec& network, const PacketSpec& packet)
        : record_(record), graph_(graph), router_(router), network_(network), packet_(packet) {}

    // 0 for a transfer that cannot go as packets.
    std::uint64_t of(const TransferRecord::Transfer& transfer) {
        const auto [found, is_new] = known_.try_emplace({transfer.ends, transfer.size.value, transfer.steps}, 0);
        if (is_new) found->second = count(record_.request(transfer));
        return found->second;
    }

private:
    std::uint64_t count(const TransferRequest& request) const {
        if (!goes_by_packet(request, graph_.cluster(), router_)) return 0;
        std::uint64_t sum = 0;
        for (const ConnectionRequest& one :
             expand_transfer(request, graph_.cluster(), network_.ecmp.queue_pairs).requests)
            sum += transmissions(one, graph_, network_, packet_);
        return sum;
    }

    const TransferRecord& record_;
    const FabricGraph& graph_;
    const Router& router_;
    const NetworkSpec& network_;
    const PacketSpec& packet_;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, std::uint64_t> known_;
};

void add(PacketEffort::Part& part, std::uint64_t transmissions) {
    ++part.transfers;
    part.transmissions += transmissions;
}

}  // namespace

double payload_between_nodes(TransferRequest request, const Cluster& cluster) {
    request.efficiency = 1;  // what is sent, not what the line is busy for
    double sum = 0;
    for (const ConnectionRequest& one : expand_transfer(request, cluster, 1).requests)
        sum += static_cast<double>(one.message.value) * static_cast<double>(one.messages);
    return sum;
}

std::uint64_t PacketEffort::transmissions_all() const {
    std::uint64_t all = 0;
    for (const Part& part : kinds) all += part.transmissions;
    return all;
}

PacketEffort packet_effort(const TransferRecord& record, const TrafficSlice& slice, const FabricGraph& graph,
                           const Router& router, const NetworkSpec& network, const PacketSpec& packet) {
    PacketEffort effort;
    TransmissionCount count(record, graph, router, network, packet);
    for (const TransferRecord::Transfer& transfer : record.transfers) {
        const std::uint64_t transmissions = count.of(transfer);
        if (transmissions == 0) continue;
        add(effort.kinds[static_cast<std::size_t>(transfer.kind)], transmissions);
        if (slice.holds(transfer.start, record.request(transfer))) add(effort.slice, transmissions);
    }
    return effort;
}

SimTime time_within(const TransferRecord& record, std::uint64_t transmissions_most, const FabricGraph& graph,
                    const Router& router, const NetworkSpec& network, const PacketSpec& packet) {
    TransmissionCount count(record, graph, router, network, packet);
    std::vector<std::pair<SimTime, std::uint64_t>> starts;
    for (const TransferRecord::Transfer& transfer : record.transfers)
        starts.emplace_back(transfer.start, count.of(transfer));
    std::sort(starts.begin(), starts.end());
    std::uint64_t sum = 0;
    for (const auto& [at, transmissions] : starts) {
        sum += transmissions;
        if (sum > transmissions_most) return at;
    }
    return SimTime{INT64_MAX};
}

}  // namespace rehearse

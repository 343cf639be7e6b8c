#include "models/network/packet_effort.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace rehearse {

namespace {

void add(PacketEffort::Part& part, std::uint64_t transmissions) {
    ++part.transfers;
    part.transmissions += transmissions;
}

}  // namespace

std::uint64_t PacketEffort::transmissions_all() const {
    std::uint64_t all = 0;
    for (const Part& part : kinds) all += part.transmissions;
    return all;
}

PacketEffort packet_effort(const TransferRecord& record, const TrafficSlice& slice, const FabricGraph& graph,
                           const Router& router, const NetworkSpec& network, const PacketSpec& packet) {
    PacketEffort effort;
    std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>, std::uint64_t> known;  // equal transfers once
    for (const TransferRecord::Transfer& transfer : record.transfers) {
        const TransferRequest request = record.request(transfer);
        const auto [found, is_new] = known.try_emplace({transfer.ends, transfer.size.value, transfer.steps}, 0);
        if (is_new && goes_by_packet(request, graph.cluster(), router)) {
            for (const ConnectionRequest& connection :
                 expand_transfer(request, graph.cluster(), network.ecmp.queue_pairs).requests)
                found->second += transmissions(connection, graph, network, packet);
        }
        if (found->second == 0) continue;
        effort.end = std::max(effort.end, transfer.end);
        add(effort.kinds[static_cast<std::size_t>(transfer.kind)], found->second);
        if (slice.holds(transfer.start, request)) add(effort.slice, found->second);
    }
    return effort;
}

}  // namespace rehearse

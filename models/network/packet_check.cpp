#include "models/network/packet_check.hpp"

#include <algorithm>
#include <optional>

#include "models/network/flow/flow_model.hpp"
#include "models/network/packet/packet_model.hpp"
#include "models/network/packet_effort.hpp"

namespace rehearse {

namespace {

using Transfer = TransferRecord::Transfer;

// The earliest of the moments at which most bytes of one kind are under way.
std::optional<SimTime> busiest_moment(const std::vector<Transfer>& transfers, TrafficKind kind) {
    std::vector<std::pair<SimTime, std::int64_t>> changes;
    for (const Transfer& transfer : transfers) {
        if (transfer.kind != kind) continue;
        changes.emplace_back(transfer.start, transfer.size.value);
        changes.emplace_back(transfer.end, -transfer.size.value);
    }
    std::sort(changes.begin(), changes.end());  // at one instant ends come first
    std::optional<SimTime> moment;
    std::int64_t bytes = 0, most = 0;
    for (const auto& [at, change] : changes) {
        bytes += change;
        if (bytes <= most) continue;
        most = bytes;
        moment = at;
    }
    return moment;
}

class Replay {
public:
    Replay(const TransferRecord& record, std::vector<Transfer> transfers, double scale)
        : record_(record), transfers_(std::move(transfers)) {
        SimTime first{INT64_MAX};
        for (const Transfer& transfer : transfers_) first = std::min(first, transfer.start);
        for (Transfer& transfer : transfers_) {
            transfer.start = SimTime{} + (transfer.start - first) * Ratio{scale};
            transfer.size = std::max(Bytes{1}, Bytes{static_cast<std::int64_t>(
                                                   static_cast<double>(transfer.size.value) * scale)});
        }
    }

    // Figures of the transfers of one kind.
    PhaseCheck::Figures run(NetworkModel& model, TrafficKind kind) {
        for (std::size_t i = 0; i < transfers_.size(); ++i) {
            TransferRequest request = record_.request(transfers_[i]);
            request.token = i;
            model.start(transfers_[i].start, request);
        }
        std::vector<Completion> done;
        for (SimTime at = model.next_event_time(); at < SimTime{INT64_MAX}; at = model.next_event_time())
            model.advance(at, done);
        REHEARSE_CHECK(done.size() == transfers_.size(), "transfers that never end");
        PhaseCheck::Figures figures;
        SimTime first{INT64_MAX}, last;
        double count = 0;
        for (const Completion& one : done) {
            const Transfer& transfer = transfers_[one.token];
            if (transfer.kind != kind) continue;
            ++count;
            figures.completion_mean_s += (one.at - transfer.start).seconds();
            first = std::min(first, transfer.start);
            last = std::max(last, one.at);
        }
        figures.completion_mean_s /= count;
        figures.completion_s = (last - first).seconds();
        return figures;
    }

private:
    const TransferRecord& record_;
    std::vector<Transfer> transfers_;
};

}  // namespace

std::vector<PhaseCheck> check_packets(const TransferRecord& record, const Cluster& cluster, const Router& router,
                                      const NetworkSpec& network, const PacketSpec& packet, std::uint64_t seed,
                                      std::uint64_t transmissions_most) {
    const FabricGraph graph(cluster, router);
    std::vector<Transfer> between;  // nodes
    for (const Transfer& transfer : record.transfers) {
        if (goes_by_packet(record.request(transfer), cluster, router)) between.push_back(transfer);
    }
    std::vector<PhaseCheck> checks;
    for (std::size_t k = 0; k < traffic_kind_count; ++k) {
        const auto kind = static_cast<TrafficKind>(k);
        const std::optional<SimTime> moment = busiest_moment(between, kind);
        if (!moment) continue;
        PhaseCheck& check = checks.emplace_back(PhaseCheck{.kind = kind, .moment = *moment});
        std::vector<Transfer> present;
        for (const Transfer& transfer : between) {
            if (transfer.start > *moment || transfer.end <= *moment) continue;
            present.push_back(transfer);
            const TransferRequest request = record.request(transfer);
            for (const ConnectionRequest& one : expand_transfer(request, cluster, network.ecmp.queue_pairs).requests)
                check.transmissions += transmissions(one, graph, network, packet);
            check.transfers += transfer.kind == kind;
            if (transfer.kind == kind) check.payload += payload_between_nodes(request, cluster);
        }
        check.transfers_all = present.size();
        check.scale = std::min(1.0, static_cast<double>(transmissions_most) / static_cast<double>(check.transmissions));
        Replay replay(record, std::move(present), check.scale);
        FlowModel flows(cluster, router, network);
        check.flow = replay.run(flows, kind);
        PacketModel packets(cluster, router, network, packet, seed);
        check.packet = replay.run(packets, kind);
    }
    return checks;
}

}  // namespace rehearse

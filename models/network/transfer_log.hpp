// TransferLog: a NetworkModel that passes everything on to another one and keeps what was asked of it.
#pragma once

#include <unordered_map>
#include <vector>

#include "models/network/network_model.hpp"

namespace rehearse {

struct TransferRecord {
    struct Ends {
        TransferPattern pattern = TransferPattern::point_to_point;
        std::vector<GpuId> gpus;
    };
    struct Transfer {
        SimTime start, end;
        Bytes size;
        double efficiency = 1;
        std::uint32_t steps = 1;
        std::uint32_t ends = 0;  // place in `ends`; transfers of one group_key share it
        TrafficKind kind = TrafficKind::other;
    };
    std::vector<Ends> ends;
    std::vector<Transfer> transfers;  // in the order in which they were handed in

    TransferRequest request(const Transfer& transfer) const;  // without group_key and token; valid while the record is
};

class TransferLog final : public NetworkModel {
public:
    // Both must outlive the log.
    TransferLog(NetworkModel& model, TransferRecord& record) : model_(&model), record_(&record) {}

    FlowId start(SimTime at, const TransferRequest& request) override;
    SimTime next_event_time() override { return model_->next_event_time(); }
    void advance(SimTime to, std::vector<Completion>& done) override;
    std::span<const std::uint64_t> upcoming() override { return model_->upcoming(); }
    void expect(std::uint64_t group_key) override { model_->expect(group_key); }
    const LinkTraffic& traffic() const override { return model_->traffic(); }
    std::uint64_t events() const override { return model_->events(); }
    PacketShare packet_share() const override { return model_->packet_share(); }

private:
    std::uint32_t ends_of(const TransferRequest& request);

    NetworkModel* model_;
    TransferRecord* record_;
    std::unordered_map<std::uint64_t, std::uint32_t> known_;      // lookup only: group_key -> ends
    std::unordered_map<std::uint32_t, std::uint32_t> under_way_;  // lookup only: FlowId -> transfer
};

}  // namespace rehearse

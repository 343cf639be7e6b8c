// SlicedModel: the transfers of a slice as packets, all others as flows.
//
// Transfers inside a node never become packets, nor those that relay over another rail's NIC; they stay flows whatever
// the slice. The two models do not see each other: a packet finds the links as empty as the slice leaves them, and so
// does a flow. PacketShare says how much of the packets' way is shared with flows, which bounds what that hides.
#pragma once

#include <memory>

#include "models/network/flow/flow_model.hpp"
#include "models/network/packet/packet_model.hpp"
#include "models/network/slice.hpp"

namespace rehearse {

class SlicedModel final : public NetworkModel {
public:
    // Cluster and router must outlive the model. InputError as PacketModel's.
    SlicedModel(const Cluster& cluster, const Router& router, const NetworkSpec& network, const PacketSpec& packet,
                TrafficSlice slice, std::uint64_t seed);

    FlowId start(SimTime at, const TransferRequest& request) override;
    SimTime next_event_time() override;
    void advance(SimTime to, std::vector<Completion>& done) override;
    std::span<const std::uint64_t> upcoming() override { return flows_.upcoming(); }
    void expect(std::uint64_t group_key) override { flows_.expect(group_key); }
    const LinkTraffic& traffic() const override;
    std::uint64_t events() const override { return flows_.events() + packets_.events(); }
    PacketShare packet_share() const override;

private:
    void take(NetworkModel& model, SimTime to, std::uint32_t parity, std::vector<Completion>& done);
    double shared_part() const;

    const Cluster* cluster_;
    const Router* router_;
    TrafficSlice slice_;
    FlowModel flows_;
    PacketModel packets_;
    std::uint64_t transfers_ = 0;  // between nodes
    double payload_ = 0, payload_all_ = 0;
    mutable LinkTraffic traffic_;
};

}  // namespace rehearse

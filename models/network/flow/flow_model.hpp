// FlowModel: transfers as fluid flows that share the links max-min fairly (flow_network.hpp), on the routes that ECMP
// gives them (transfer_paths.hpp). A transfer moves from start + latency on and completes when it has drained.
//
// The traffic of a transfer on a kept path is counted when it starts, while the path is at hand, that of others when
// they end; traffic() corrects for the ones under way. The links of a transfer are fixed when it starts. A transfer
// between a GPU and itself takes no time.
#pragma once

#include "models/network/flow/flow_network.hpp"
#include "models/network/network_model.hpp"
#include "models/network/transfer_paths.hpp"

namespace rehearse {

class FlowModel final : public NetworkModel {
public:
    // Cluster and router must outlive the model.
    FlowModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec,
              PathChoice paths = PathChoice::ecmp);

    FlowId start(SimTime at, const TransferRequest& request) override;
    SimTime next_event_time() override { return network_.next_event_time(); }
    void advance(SimTime to, std::vector<Completion>& done) override;
    std::span<const std::uint64_t> upcoming() override { return network_.upcoming(); }
    void expect(std::uint64_t group_key) override { paths_.expect(group_key); }
    const LinkTraffic& traffic() const override;  // up to the time advanced to; O(links + all known paths)
    std::uint64_t events() const override { return network_.events(); }

    const FlowNetwork& network() const { return network_; }

private:
    TransferPaths paths_;
    FlowNetwork network_;
    std::vector<FlowNetwork::Ended> ended_;
    std::vector<double> efficiencies_;  // per flow
    mutable LinkTraffic traffic_;
};

}  // namespace rehearse

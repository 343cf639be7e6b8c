// IdealModel: every transfer has the fabric to itself.
//
//   end = start + latency + size x max over its links of (weight / capacity), rounded up to a picosecond
//
// Weights, latency and framing as in transfer_paths.hpp. The lower bound for the flow model, and the first reference.
#pragma once

#include <queue>
#include <vector>

#include "models/network/network_model.hpp"
#include "models/network/transfer_paths.hpp"

namespace rehearse {

class IdealModel final : public NetworkModel {
public:
    // Cluster and router must outlive the model.
    IdealModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec);

    FlowId start(SimTime at, const TransferRequest& request) override;
    SimTime next_event_time() override;
    void advance(SimTime to, std::vector<Completion>& done) override;
    void expect(std::uint64_t group_key) override { paths_.expect(group_key); }
    // A transfer is counted when it starts (the flow model counts what has moved so far).
    const LinkTraffic& traffic() const override;
    std::uint64_t events() const override { return events_; }

private:
    struct Later {
        bool operator()(const Completion& a, const Completion& b) const {
            return a.at != b.at ? a.at > b.at : a.flow > b.flow;
        }
    };

    TransferPaths paths_;
    std::priority_queue<Completion, std::vector<Completion>, Later> pending_;
    std::vector<FlowId> free_;
    std::uint32_t next_flow_ = 0;
    std::uint64_t events_ = 0;
    mutable LinkTraffic traffic_;
};

}  // namespace rehearse

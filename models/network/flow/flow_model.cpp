#include "models/network/flow/flow_model.hpp"

namespace rehearse {

FlowModel::FlowModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec)
    : paths_(cluster, router, spec), network_(paths_.capacities(), spec.coalesce) {}

FlowId FlowModel::start(SimTime at, const TransferRequest& request) {
    const TransferPaths::Prepared prepared = paths_.prepare(request);
    const auto size = static_cast<double>(request.size.value);
    const FlowNetwork::FlowIndex flow = network_.start(at + prepared.latency, size, prepared.binding, request.token);
    if (flow >= transfers_.size()) transfers_.resize(flow + 1);
    transfers_[flow] = {size, prepared.wire_ratio, prepared.index, true};
    return FlowId{flow};
}

void FlowModel::advance(SimTime to, std::vector<Completion>& done) {
    ended_.clear();
    network_.advance(to, ended_);
    for (const FlowNetwork::Ended& end : ended_) {
        Transfer& transfer = transfers_[end.flow];
        paths_.ended(transfer.path, transfer.size, transfer.wire_ratio);
        transfer.is_open = false;
        done.push_back({end.at, FlowId{end.flow}, end.token});
    }
}

const LinkTraffic& FlowModel::traffic() const {
    traffic_.bytes = paths_.carried();
    for (FlowNetwork::FlowIndex flow = 0; flow < transfers_.size(); ++flow) {
        const Transfer& transfer = transfers_[flow];
        if (!transfer.is_open) continue;
        paths_.add_carried(transfer.path, network_.moved(flow), transfer.wire_ratio, traffic_.bytes);
    }
    traffic_.busy_seconds.resize(traffic_.bytes.size());
    // Utilisation is bytes per second over capacity, so its time integral is bytes over capacity.
    for (std::size_t l = 0; l < traffic_.bytes.size(); ++l) {
        traffic_.busy_seconds[l] = traffic_.bytes[l] / paths_.capacities()[l];
    }
    return traffic_;
}

}  // namespace rehearse

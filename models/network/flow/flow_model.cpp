#include "models/network/flow/flow_model.hpp"

namespace rehearse {

FlowModel::FlowModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec)
    : expansion_(cluster, router, spec), capacities_(expansion_.capacities()), network_(capacities_, spec.coalesce) {}

FlowId FlowModel::start(SimTime at, const TransferRequest& request) {
    const Expansion::Transfer transfer = expansion_.expand(request);
    const auto bytes = static_cast<double>(request.size.value);
    return FlowId{network_.start(at + transfer.latency, bytes, transfer.links, request.token)};
}

void FlowModel::advance(SimTime to, std::vector<Completion>& done) {
    ended_.clear();
    network_.advance(to, ended_);
    for (const FlowNetwork::Ended& end : ended_) done.push_back({end.at, FlowId{end.flow}, end.token});
}

const LinkTraffic& FlowModel::traffic() const {
    network_.carried(traffic_.bytes);
    traffic_.busy_seconds.resize(traffic_.bytes.size());
    // Utilisation is bytes per second over capacity, so its time integral is bytes over capacity.
    for (std::size_t l = 0; l < traffic_.bytes.size(); ++l) {
        traffic_.busy_seconds[l] = traffic_.bytes[l] / capacities_[l];
    }
    return traffic_;
}

}  // namespace rehearse

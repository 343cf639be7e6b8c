#include "models/network/flow/flow_model.hpp"

namespace rehearse {

FlowModel::FlowModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec, PathChoice paths)
    : paths_(cluster, router, spec, paths), network_(paths_.capacities(), spec.coalesce) {}

FlowId FlowModel::start(SimTime at, const TransferRequest& request) {
    const TransferPaths::Prepared prepared = paths_.prepare(request);
    const auto size = static_cast<double>(request.size.value);
    if (prepared.is_kept) paths_.count(prepared.index, size, prepared.wire_ratio);
    const FlowId flow{network_.start(at + prepared.latency, size / request.efficiency, prepared.binding,
                                     {request.token, prepared.wire_ratio, prepared.index, prepared.is_kept})};
    if (flow.value >= efficiencies_.size()) efficiencies_.resize(flow.value + 1);
    efficiencies_[flow.value] = request.efficiency;
    return flow;
}

void FlowModel::advance(SimTime to, std::vector<Completion>& done) {
    ended_.clear();
    network_.advance(to, ended_);
    for (const FlowNetwork::Ended& end : ended_) {
        const FlowNetwork::Tag tag = network_.tag(end.flow);
        if (!tag.is_counted) {
            paths_.count(tag.path, network_.size(end.flow) * efficiencies_[end.flow], tag.wire_ratio);
            paths_.release(tag.path);
        }
        done.push_back({end.at, FlowId{end.flow}, end.token});
    }
}

const LinkTraffic& FlowModel::traffic() const {
    traffic_.bytes = paths_.carried();
    for (FlowNetwork::FlowIndex flow = 0; flow < network_.flow_count(); ++flow) {
        if (!network_.is_open(flow)) continue;
        const FlowNetwork::Tag tag = network_.tag(flow);
        const double counted = tag.is_counted ? network_.size(flow) : 0.0;
        const double moved = (network_.moved(flow) - counted) * efficiencies_[flow];
        paths_.add_carried(tag.path, moved, tag.wire_ratio, traffic_.bytes);
    }
    traffic_.busy_seconds.resize(traffic_.bytes.size());
    // Utilisation is bytes per second over capacity, so its time integral is bytes over capacity.
    for (std::size_t l = 0; l < traffic_.bytes.size(); ++l) {
        traffic_.busy_seconds[l] = traffic_.bytes[l] / paths_.capacities()[l];
    }
    return traffic_;
}

}  // namespace rehearse

#include "models/network/ideal/ideal_model.hpp"

namespace rehearse {

IdealModel::IdealModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec)
    : paths_(cluster, router, spec) {}

FlowId IdealModel::start(SimTime at, const TransferRequest& request) {
    const TransferPaths::Prepared prepared = paths_.prepare(request);
    const auto bytes = static_cast<double>(request.size.value);
    paths_.count(prepared.index, bytes, prepared.wire_ratio);
    if (!prepared.is_kept) paths_.release(prepared.index);
    FlowId flow{next_flow_};
    if (free_.empty()) {
        ++next_flow_;
    } else {
        flow = free_.back();
        free_.pop_back();
    }
    // A part in 1e12 is rounding noise of the division, not a picosecond more.
    const SimDuration drain{
        detail::round_up_to_int64(bytes / request.efficiency / prepared.binding.cap * 1e12 * (1 - 1e-12))};
    pending_.push({at + prepared.latency + drain, flow, request.token});
    ++events_;
    return flow;
}

SimTime IdealModel::next_event_time() { return pending_.empty() ? SimTime{INT64_MAX} : pending_.top().at; }

const LinkTraffic& IdealModel::traffic() const {
    traffic_.bytes = paths_.carried();
    traffic_.busy_seconds.resize(traffic_.bytes.size());
    for (std::size_t l = 0; l < traffic_.bytes.size(); ++l) {
        traffic_.busy_seconds[l] = traffic_.bytes[l] / paths_.capacities()[l];
    }
    return traffic_;
}

void IdealModel::advance(SimTime to, std::vector<Completion>& done) {
    while (!pending_.empty() && pending_.top().at <= to) {
        done.push_back(pending_.top());
        free_.push_back(pending_.top().flow);
        pending_.pop();
        ++events_;
    }
}

}  // namespace rehearse

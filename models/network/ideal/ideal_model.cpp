#include "models/network/ideal/ideal_model.hpp"

#include <algorithm>
#include <cmath>

namespace rehearse {

IdealModel::IdealModel(const Cluster& cluster, const Router& router, const NetworkSpec& spec)
    : expansion_(cluster, router, spec), capacities_(expansion_.capacities()) {
    traffic_.bytes.assign(capacities_.size(), 0.0);
    traffic_.busy_seconds.assign(capacities_.size(), 0.0);
}

FlowId IdealModel::start(SimTime at, const TransferRequest& request) {
    const Expansion::Transfer transfer = expansion_.expand(request);
    const auto bytes = static_cast<double>(request.size.value);
    double slowest = 0;  // seconds
    for (const WeightedLink& use : transfer.links) {
        const double busy = use.weight * bytes / capacities_[use.link.value];
        traffic_.bytes[use.link.value] += use.weight * bytes;
        traffic_.busy_seconds[use.link.value] += busy;
        slowest = std::max(slowest, busy);
    }
    FlowId flow{next_flow_};
    if (free_.empty()) {
        ++next_flow_;
    } else {
        flow = free_.back();
        free_.pop_back();
    }
    // A part in 1e12 is rounding noise of the division, not a picosecond more.
    const SimDuration drain{detail::round_up_to_int64(slowest * 1e12 * (1 - 1e-12))};
    pending_.push({at + transfer.latency + drain, flow, request.token});
    ++events_;
    return flow;
}

SimTime IdealModel::next_event_time() { return pending_.empty() ? SimTime{INT64_MAX} : pending_.top().at; }

void IdealModel::advance(SimTime to, std::vector<Completion>& done) {
    while (!pending_.empty() && pending_.top().at <= to) {
        done.push_back(pending_.top());
        free_.push_back(pending_.top().flow);
        pending_.pop();
        ++events_;
    }
}

}  // namespace rehearse

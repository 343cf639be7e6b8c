#include "models/network/flow/max_min_solver.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

MaxMinSolver::MaxMinSolver(std::span<const double> capacities)
    : network_(capacities), divisions_(capacities.size()), queue_(capacities.size()) {}

double MaxMinSolver::lone_rate(const FlowPath& path) const {
    double rate = infinity;
    for (const WeightedLink& use : path.links) {
        rate = std::min(rate, network_.link(use.link.value).capacity / (use.weight * path.scale));
    }
    return rate;
}

MaxMinSolver::FlowIndex MaxMinSolver::create(const FlowPath& path) {
    FlowIndex index;
    if (free_flows_.empty()) {
        REHEARSE_CHECK(flows_.size() < UINT32_MAX, "more than 2^32 flows");
        index = static_cast<FlowIndex>(flows_.size());
        flows_.emplace_back();
    } else {
        index = free_flows_.back();
        free_flows_.pop_back();
    }
    const auto count = static_cast<std::uint32_t>(path.links.size());
    const std::uint32_t first = network_.take_slots(count);
    bool uniform = true;
    for (std::uint32_t i = 0; i < count; ++i) {
        network_.slot(first + i).link = path.links[i].link.value;
        uniform = uniform && path.links[i].weight == path.links[0].weight;
    }
    if (!uniform) {
        if (weights_.size() < first + count) weights_.resize(first + count);
        for (std::uint32_t i = 0; i < count; ++i) weights_[first + i] = path.links[i].weight * path.scale;
    }
    FlowState& flow = flows_[index];
    flow = FlowState{.cap = path.cap < infinity ? path.cap : lone_rate(path), .first = first, .count = count};
    flow.weight = !uniform ? -1.0 : count == 0 ? 0.0 : path.links[0].weight * path.scale;
    return index;
}

void MaxMinSolver::join(FlowIndex index) {
    const FlowState& flow = flows_[index];
    network_.prefetch_links(flow.first, flow.count);
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t link_index = network_.slot(s).link;
        LinkState& link = network_.link(link_index);
        const double weight = weight_of(flow, s);
        if (in_play(link)) {
            divisions_[link_index].weight += weight;
            ++divisions_[link_index].growing;
        }
        link.demand += weight * flow.cap;
        network_.add(index, s);
    }
    joined_.push_back(index);
}

void MaxMinSolver::leave(FlowIndex index) {
    FlowState& flow = flows_[index];
    network_.prefetch_links(flow.first, flow.count);
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t link_index = network_.slot(s).link;
        LinkState& link = network_.link(link_index);
        const double weight = weight_of(flow, s);
        const bool was_in_play = in_play(link);
        link.demand -= weight * flow.cap;
        network_.remove(s);
        if (link.count == 0) link.demand = 0;  // no rounding is left behind
        if (link.is_covered && !is_overbooked(link)) drop_from_play(link_index);
        if (!was_in_play) continue;
        Division& division = divisions_[link_index];
        if (flow.limit == link_index) {
            division.weight -= weight;
            --division.growing;
        } else {
            division.fixed -= weight * flow.rate;
        }
        if (link.level < infinity) relieved_.push_back(link_index);
        if (!in_play(link)) drop_from_play(link_index);
    }
    flow.rate = 0;
}

void MaxMinSolver::destroy(FlowIndex index) {
    network_.give_back_slots(flows_[index].first, flows_[index].count);
    free_flows_.push_back(index);
}

void MaxMinSolver::begin_sweep() {
    if (++sweep_ == UINT32_MAX / 2) {  // stamps would wrap: forget them all
        sweep_ = 1;
        for (FlowState& flow : flows_) flow.sweep = 0;
        for (LinkState& link : network_.links()) link.sweep = 0;
    }
    growing_stamp_ = 2 * sweep_;
    present_ = 0;
    anchor_ = 0;
    changed_.clear();
    growing_.clear();
    cap_floor_ = infinity;
}

void MaxMinSolver::seed() {
    std::size_t coupled = 0;
    for (const FlowIndex index : joined_) update_covers(index);
    for (const FlowIndex index : joined_) {
        FlowState& flow = flows_[index];
        bool is_coupled = false;
        for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
            is_coupled = is_coupled || in_play(network_.link(network_.slot(s).link));
        }
        if (is_coupled) {
            flow.sweep = growing_stamp_;
            joined_[coupled++] = index;
        } else {  // nothing on its path can be full: it runs at its cap and nobody notices
            flow.sweep = growing_stamp_ + 1;
            flow.rate = flow.cap;
            changed_.push_back(index);
        }
    }
    joined_.resize(coupled);
    for (const FlowIndex index : joined_) watch_cap(index);
    for (const FlowIndex index : joined_) {
        const FlowState& flow = flows_[index];
        for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
            const std::uint32_t link = network_.slot(s).link;
            if (network_.link(link).sweep != sweep_ && in_play(network_.link(link))) doubt(link);
        }
    }
    for (const std::uint32_t link : relieved_) {
        if (network_.link(link).sweep != sweep_ && network_.link(link).level < infinity) doubt(link);
    }
    joined_.clear();
    relieved_.clear();
}

std::span<const MaxMinSolver::FlowIndex> MaxMinSolver::resolve() {
    begin_sweep();
    seed();
    while (true) {
        const double next = queue_.empty() ? infinity : queue_.top().key;
        if (!growing_.empty() && cap_floor_ <= next) {
            stop_capped();
        } else if (!queue_.empty()) {
            on_top();
        } else {
            return changed_;
        }
    }
}

}  // namespace rehearse

// The sweep of MaxMinSolver::resolve(): see the head of max_min_solver.hpp.
#include <algorithm>
#include <cmath>

#include "models/network/flow/max_min_solver.hpp"

namespace rehearse {

void MaxMinSolver::watch_cap(FlowIndex flow) {
    growing_.push_back(flow);
    cap_floor_ = std::min(cap_floor_, flows_[flow].cap);
}

// The sweep has reached the lowest cap among the growing flows. Caps have few distinct values, so one pass over the
// list per value costs less than a queue of flows.
void MaxMinSolver::stop_capped() {
    const double cap = cap_floor_;
    present_ = std::max(present_, cap);
    cap_floor_ = infinity;
    std::size_t kept = 0;
    for (const FlowIndex flow : growing_) {
        if (!is_growing(flows_[flow])) continue;
        if (flows_[flow].cap <= cap) {
            stop(flow, flows_[flow].cap, no_link);
        } else {
            cap_floor_ = std::min(cap_floor_, flows_[flow].cap);
            growing_[kept++] = flow;
        }
    }
    growing_.resize(kept);
}

void MaxMinSolver::on_top() {
    const auto [key, index] = queue_.top();
    Division& division = divisions_[index];
    LinkState& link = network_.link(index);
    double found = share(index);
    if (found < division.kept_max * (1 - tie) || found > division.taken_min) {
        count_members(index);
        found = share(index);
    }
    const double when = std::min(link.level, found);
    if (when > key * (1 + 1e-15) && when < infinity) {  // it rose while it waited
        division.queued = when;
        queue_.replace_top({when, index});
        return;
    }
    queue_.pop();
    division.queued = infinity;
    if (found == infinity) {
        rest(index);
        return;
    }
    present_ = std::max(present_, when);
    if (found > link.level * (1 + tie)) {
        release(index);
    } else {
        fill(index, found);
    }
}

// The link is no longer full at its old level: what it held grows on.
void MaxMinSolver::release(std::uint32_t index) {
    Division& division = divisions_[index];
    network_.link(index).level = infinity;
    for (const Member& member : network_.members(network_.link(index))) {
        FlowState& flow = flows_[member.flow];
        if (!is_clean(flow) || flow.limit != index) continue;
        if (hold_elsewhere(flow, index)) {
            const double weight = weight_of(flow, member.slot);
            division.fixed += weight * flow.rate;
            division.weight -= weight;
            --division.growing;
            division.kept_max = std::max(division.kept_max, flow.rate);
        } else {
            grow(member.flow, index);
        }
    }
    if (division.growing == 0) {
        rest(index);
    } else {
        queue_link(index, due(index));
    }
}

// The link limits nothing. When it is full all the same, it could take over at its fastest flow.
void MaxMinSolver::rest(std::uint32_t index) {
    LinkState& link = network_.link(index);
    Division& division = divisions_[index];
    link.level = infinity;
    division.taken_min = infinity;
    if (!in_play(link)) {
        drop_from_play(index);
    } else if (division.fixed >= link.capacity * (1 - tie)) {
        link.level = division.kept_max;
    }
}

// True when another link that is not in doubt holds the flow at its rate.
bool MaxMinSolver::hold_elsewhere(FlowState& flow, std::uint32_t from) {
    network_.prefetch_links(flow.first, flow.count);
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t index = network_.slot(s).link;
        const LinkState& link = network_.link(index);
        if (index == from || link.level > flow.rate * (1 + tie)) continue;
        if (link.sweep == sweep_ && !divisions_[index].settled) continue;
        flow.limit = index;
        Division& division = divisions_[index];
        const double weight = weight_of(flow, s);
        division.fixed -= weight * flow.rate;
        division.weight += weight;
        ++division.growing;
        return true;
    }
    return false;
}

void MaxMinSolver::grow(FlowIndex index, std::uint32_t from) {
    FlowState& flow = flows_[index];
    const std::uint32_t limit_old = flow.limit;
    flow.sweep = growing_stamp_;
    watch_cap(index);
    network_.prefetch_links(flow.first, flow.count);
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t link_index = network_.slot(s).link;
        const LinkState& link = network_.link(link_index);
        if (link_index == from) continue;
        if (link.sweep != sweep_ && (!in_play(link) || doubt(link_index) == Count::anew)) continue;
        Division& division = divisions_[link_index];
        if (division.settled) {  // rounding noise only
            division.credit = 0;
            continue;
        }
        if (limit_old == link_index || flow.rate >= division.taken_min) continue;
        const double weight = weight_of(flow, s);
        division.fixed -= weight * flow.rate;
        division.weight += weight;
        ++division.growing;
        // The division is saved unless the link comes up earlier. Faster flows may count as fixed here, which makes the
        // share too small and the link come up too early; it is counted anew then.
        if (link.capacity - division.fixed < division.queued * division.weight) queue_link(link_index, due(link_index));
    }
}

// The link is full at `share_found`: every growing flow on it and every faster one stops.
void MaxMinSolver::fill(std::uint32_t index, double share_found) {
    LinkState& link = network_.link(index);
    double rate = share_found;
    if (link.level < infinity && std::abs(rate - link.level) <= tie * link.level) {
        rate = link.level;
    } else if (rate <= anchor_ * (1 + tie)) {
        rate = anchor_;
    }
    anchor_ = rate;
    const bool unchanged = rate == link.level;
    link.level = rate;
    divisions_[index].settled = true;
    for (const Member& member : network_.members(link)) {
        const FlowState& flow = flows_[member.flow];
        const bool own = is_clean(flow) && flow.limit == index;
        const bool faster = is_clean(flow) && flow.rate > rate * (1 + tie);
        if (is_growing(flow) || faster || (own && !unchanged)) stop(member.flow, rate, index);
    }
    Division& division = divisions_[index];
    if (division.taken_min <= rate * (1 + tie))
        division.credit = 0;  // a flow that counts as taken may not have stopped
    division.taken_min = infinity;
}

void MaxMinSolver::stop(FlowIndex index, double rate, std::uint32_t at) {
    FlowState& flow = flows_[index];
    const bool was_growing = is_growing(flow);
    const double rate_old = flow.rate;
    const std::uint32_t limit_old = flow.limit;
    if (std::abs(rate - rate_old) > 1e-13 * rate_old) {
        changed_.push_back(index);
    } else {
        rate = rate_old;
    }
    flow.rate = rate;
    flow.limit = at;
    flow.sweep = growing_stamp_ + 1;
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t link_index = network_.slot(s).link;
        const LinkState& link = network_.link(link_index);
        if (link_index == at) continue;
        if (link.sweep != sweep_) {  // the flow was clean and slowed down: only a full link comes into doubt
            if (was_growing || !in_play(link)) continue;
            if (link.level < infinity && doubt(link_index) == Count::anew) continue;
        }
        Division& division = divisions_[link_index];
        if (division.settled && link.sweep == sweep_) {
            if (!was_growing) division.credit = 0;  // rounding noise only
            continue;
        }
        const double weight = weight_of(flow, s);
        if (was_growing || limit_old == link_index || rate_old >= division.taken_min) {
            division.weight -= weight;
            --division.growing;
            division.fixed += weight * rate;
            division.kept_max = std::max(division.kept_max, rate);
        } else {
            division.fixed += weight * (rate - rate_old);
            if (link.level < infinity) queue_link(link_index, due(link_index));  // it may be at rest, and full no more
        }
    }
}

}  // namespace rehearse

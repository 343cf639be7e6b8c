#include "models/network/flow/max_min_solver.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {
namespace {

constexpr double tie = 1e-11;         // relative: levels this close are one level
constexpr double demand_slack = 1e-10;  // relative: sums of caps this close to the capacity fit into it

}  // namespace

MaxMinSolver::MaxMinSolver(std::span<const double> capacities) {
    links_.resize(capacities.size());
    for (std::size_t l = 0; l < capacities.size(); ++l) {
        REHEARSE_CHECK(capacities[l] > 0, "a link has no capacity");
        links_[l].capacity = capacities[l];
    }
}

MaxMinSolver::FlowIndex MaxMinSolver::create(std::span<const WeightedLink> links, double cap) {
    FlowIndex index;
    if (free_flows_.empty()) {
        REHEARSE_CHECK(flows_.size() < UINT32_MAX, "more than 2^32 flows");
        index = static_cast<FlowIndex>(flows_.size());
        flows_.emplace_back();
    } else {
        index = free_flows_.back();
        free_flows_.pop_back();
    }
    const auto count = static_cast<std::uint32_t>(links.size());
    const std::uint32_t first = slots_.take(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        slots_[first + i] = Slot{links[i].weight, links[i].link.value, 0};
        cap = std::min(cap, links_[links[i].link.value].capacity / links[i].weight);
    }
    flows_[index] = FlowState{.rate = 0, .cap = cap, .first = first, .count = count};
    return index;
}

void MaxMinSolver::join(FlowIndex index) {
    const FlowState& flow = flows_[index];
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        LinkState& link = links_[slots_[s].link];
        slots_[s].position = static_cast<std::uint32_t>(link.members.size());
        link.members.push_back({slots_[s].weight, index, s});
        link.demand += slots_[s].weight * flow.cap;
    }
    joined_.push_back(index);
}

void MaxMinSolver::leave(FlowIndex index, double bytes) {
    FlowState& flow = flows_[index];
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const Slot& slot = slots_[s];
        LinkState& link = links_[slot.link];
        link.carried += slot.weight * bytes;
        link.demand -= slot.weight * flow.cap;
        const Member last = link.members.back();
        link.members[slot.position] = last;
        slots_[last.slot].position = slot.position;
        link.members.pop_back();
        if (link.members.empty()) link.demand = 0;
        if (link.level < infinity) relieved_.push_back(slot.link);
    }
    flow.rate = 0;
}

void MaxMinSolver::destroy(FlowIndex index) {
    slots_.give_back(flows_[index].first, flows_[index].count);
    flows_[index].count = 0;
    free_flows_.push_back(index);
}

void MaxMinSolver::add_carried(FlowIndex index, double bytes, std::vector<double>& into) const {
    const FlowState& flow = flows_[index];
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        into[slots_[s].link] += slots_[s].weight * bytes;
    }
}

std::span<const MaxMinSolver::FlowIndex> MaxMinSolver::resolve() {
    changed_.clear();
    if (++sweep_ == UINT32_MAX / 2) {  // stamps would wrap: forget them all
        sweep_ = 1;
        for (FlowState& flow : flows_) flow.sweep = 0;
        for (LinkState& link : links_) link.sweep = 0;
    }
    growing_stamp_ = 2 * sweep_;
    present_ = 0;
    anchor_ = 0;
    growing_.clear();
    cap_floor_ = infinity;
    seed();
    while (true) {
        const double next = queue_.empty() ? infinity : queue_.top().key;
        if (!growing_.empty() && cap_floor_ <= next) {
            stop_capped();
        } else if (!queue_.empty()) {
            on_top();
        } else {
            break;
        }
    }
    return changed_;
}

void MaxMinSolver::seed() {
    for (const FlowIndex index : joined_) {
        flows_[index].sweep = growing_stamp_;
        watch_cap(index);
    }
    for (const FlowIndex index : joined_) {
        const FlowState& flow = flows_[index];
        for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
            const std::uint32_t link = slots_[s].link;
            if (links_[link].sweep != sweep_ && in_play(links_[link])) doubt(link);
        }
    }
    for (const std::uint32_t link : relieved_) {
        if (links_[link].sweep != sweep_ && links_[link].level < infinity) doubt(link);
    }
    joined_.clear();
    relieved_.clear();
}

bool MaxMinSolver::in_play(const LinkState& link) const {
    return link.demand > link.capacity * (1 + demand_slack) || link.level < infinity;
}

double MaxMinSolver::share(const LinkState& link) const {
    if (link.growing == 0) return infinity;
    return std::max(present_, (link.capacity - link.fixed) / link.weight);
}

double MaxMinSolver::due(const LinkState& link) const { return std::min(link.level, share(link)); }

void MaxMinSolver::doubt(std::uint32_t index) {
    ++links_visited_;
    LinkState& link = links_[index];
    link.sweep = sweep_;
    link.settled = false;
    link.queued = infinity;
    count_members(index);
    queue_link(index, due(link));
}

// Divides the members into growing ones and fixed ones. A clean flow that another link limits is fixed, unless this link
// will be full below its rate.
void MaxMinSolver::count_members(std::uint32_t index) {
    LinkState& link = links_[index];
    double fixed = 0, weight = 0;
    std::uint32_t growing = 0;
    if (faster_.size() < link.members.size()) faster_.resize(link.members.size());
    Rate* faster = faster_.data();
    const FlowState* const flows = flows_.data();
    const std::uint32_t stamp = growing_stamp_;
    const double present = present_;
    for (const Member& member : link.members) {
        const FlowState& flow = flows[member.flow];
        const bool clean = flow.sweep < stamp;
        const double grows = (flow.sweep == stamp) | (clean & (flow.limit == index)) ? 1.0 : 0.0;
        weight += grows * member.weight;
        fixed += (1.0 - grows) * member.weight * flow.rate;
        growing += grows != 0.0;
        *faster = {flow.rate, member.weight};
        faster += clean & (grows == 0.0) & (flow.rate > present);
    }
    faster_count_ = static_cast<std::size_t>(faster - faster_.data());
    link.fixed = fixed;
    link.weight = weight;
    link.growing = growing;
    take_faster(link);
}

// Finds which of the clean flows in `faster_` the link would slow: the largest set whose rates all exceed the share that
// results when its members count as growing. Approached from below: the share only rises while the set shrinks.
void MaxMinSolver::take_faster(LinkState& link) {
    const double fixed_all = link.fixed, weight_own = link.weight;
    const std::uint32_t growing_own = link.growing;
    const std::span<const Rate> faster(faster_.data(), faster_count_);
    link.kept_max = 0;
    for (const Rate& clean : faster) link.kept_max = std::max(link.kept_max, clean.rate);
    link.taken_min = infinity;
    double found = growing_own == 0 ? (fixed_all > link.capacity * (1 + tie) ? present_ : infinity) : share(link);
    while (found < link.kept_max * (1 - tie) || found > link.taken_min) {
        link.fixed = fixed_all;
        link.weight = weight_own;
        link.growing = growing_own;
        link.kept_max = 0;
        link.taken_min = infinity;
        for (const Rate& clean : faster) {
            if (clean.rate > found) {
                link.fixed -= clean.weight * clean.rate;
                link.weight += clean.weight;
                ++link.growing;
                link.taken_min = std::min(link.taken_min, clean.rate);
            } else {
                link.kept_max = std::max(link.kept_max, clean.rate);
            }
        }
        found = share(link);
    }
}

void MaxMinSolver::queue_link(std::uint32_t index, double key) {
    LinkState& link = links_[index];
    if (key >= link.queued) return;  // an earlier entry looks again
    link.queued = key;
    queue_.push({key, index});
}

void MaxMinSolver::on_top() {
    const auto [key, index] = queue_.top();
    LinkState& link = links_[index];
    if (link.settled || link.queued != key) {  // superseded
        queue_.pop();
        return;
    }
    double found = share(link);
    if (found < link.kept_max * (1 - tie) || found > link.taken_min) {
        count_members(index);
        found = share(link);
    }
    const double when = std::min(link.level, found);
    if (when > key * (1 + 1e-15) && when < infinity) {  // it rose while it waited
        link.queued = when;
        queue_.replace_top({when, index});
        return;
    }
    queue_.pop();
    link.queued = infinity;
    if (found == infinity) {  // limits nothing
        link.level = infinity;
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
    LinkState& link = links_[index];
    link.level = infinity;
    for (std::size_t m = 0; m < link.members.size(); ++m) {
        const Member& member = link.members[m];
        FlowState& flow = flows_[member.flow];
        if (!is_clean(flow) || flow.limit != index) continue;
        if (hold_elsewhere(flow, index)) {
            link.fixed += member.weight * flow.rate;
            link.weight -= member.weight;
            --link.growing;
            link.kept_max = std::max(link.kept_max, flow.rate);
        } else {
            grow(member.flow, index);
        }
    }
    queue_link(index, due(link));
}

// True when another link that is not in doubt holds the flow at its rate.
bool MaxMinSolver::hold_elsewhere(FlowState& flow, std::uint32_t from) {
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t index = slots_[s].link;
        const LinkState& link = links_[index];
        if (index == from || link.level > flow.rate * (1 + tie)) continue;
        if (link.sweep == sweep_ && !link.settled) continue;
        flow.limit = index;
        return true;
    }
    return false;
}

void MaxMinSolver::grow(FlowIndex index, std::uint32_t from) {
    FlowState& flow = flows_[index];
    const std::uint32_t limit_old = flow.limit;
    flow.sweep = growing_stamp_;
    watch_cap(index);
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const Slot& slot = slots_[s];
        LinkState& link = links_[slot.link];
        if (slot.link == from || !in_play(link)) continue;
        if (link.sweep != sweep_) {
            doubt(slot.link);
            continue;
        }
        if (link.settled || limit_old == slot.link || flow.rate >= link.taken_min) continue;
        link.fixed -= slot.weight * flow.rate;
        link.weight += slot.weight;
        ++link.growing;
        // The division is saved unless the link comes up earlier. Faster flows may count as fixed here, which makes the
        // share too small and the link come up too early; it is counted anew then.
        if (link.capacity - link.fixed < link.queued * link.weight) queue_link(slot.link, due(link));
    }
}

// The link is full at `share_found`: every growing flow on it and every faster one stops.
void MaxMinSolver::fill(std::uint32_t index, double share_found) {
    LinkState& link = links_[index];
    double rate = share_found;
    if (link.level < infinity && std::abs(rate - link.level) <= tie * link.level) {
        rate = link.level;
    } else if (rate <= anchor_ * (1 + tie)) {
        rate = anchor_;
    }
    anchor_ = rate;
    const bool unchanged = rate == link.level;
    link.level = rate;
    link.settled = true;
    for (std::size_t m = 0; m < link.members.size(); ++m) {
        const FlowIndex member = link.members[m].flow;
        const FlowState& flow = flows_[member];
        const bool own = is_clean(flow) && flow.limit == index;
        const bool faster = is_clean(flow) && flow.rate > rate * (1 + tie);
        if (is_growing(flow) || faster || (own && !unchanged)) stop(member, rate, index);
    }
}

void MaxMinSolver::stop(FlowIndex index, double rate, std::uint32_t at) {
    FlowState& flow = flows_[index];
    const bool was_growing = is_growing(flow);
    const double rate_old = flow.rate;
    const std::uint32_t limit_old = flow.limit;
    if (std::abs(rate - rate_old) > 1e-13 * rate_old) changed_.push_back(index); else rate = rate_old;
    flow.rate = rate;
    flow.limit = at;
    flow.sweep = growing_stamp_ + 1;
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const Slot& slot = slots_[s];
        LinkState& link = links_[slot.link];
        if (slot.link == at) continue;
        if (link.sweep != sweep_) {  // the flow was clean and slowed down: only a full link notices
            if (link.level < infinity && !was_growing) doubt(slot.link);
            continue;
        }
        if (link.settled) continue;
        if (was_growing || limit_old == slot.link || rate_old >= link.taken_min) {
            link.weight -= slot.weight;
            --link.growing;
            link.fixed += slot.weight * rate;
        } else {
            link.fixed += slot.weight * (rate - rate_old);
        }
    }
}

void MaxMinSolver::watch_cap(FlowIndex flow) {
    growing_.push_back(flow);
    cap_floor_ = std::min(cap_floor_, flows_[flow].cap);
}

// The sweep has reached the lowest cap among the growing flows.
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

}  // namespace rehearse

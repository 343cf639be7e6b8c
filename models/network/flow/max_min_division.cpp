// How MaxMinSolver divides the members of a link into growing and fixed ones, and the share that follows.
#include <algorithm>
#include <bit>

#include "models/network/flow/max_min_solver.hpp"

namespace rehearse {
namespace {

constexpr std::uint16_t credit_full = 64;

double only_if(bool condition, double value) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & (0 - static_cast<std::uint64_t>(condition)));
}

}  // namespace

MaxMinSolver::Count MaxMinSolver::doubt(std::uint32_t index) {
    ++links_visited_;
    network_.link(index).sweep = sweep_;
    Division& division = divisions_[index];
    division.settled = false;
    division.queued = infinity;
    const Count count = division.credit > 0 ? Count::kept : Count::anew;
    if (count == Count::kept) {
        --division.credit;
    } else {
        count_members(index);
    }
    queue_link(index, due(index));
    return count;
}

// Divides the members into growing ones and fixed ones. A clean flow that another link limits is fixed, unless this
// link will be full below its rate.
void MaxMinSolver::count_members(std::uint32_t index) {
    const std::span<const Member> members = network_.members(network_.link(index));
    double fixed = 0, weight = 0;
    std::uint32_t growing = 0;
    if (faster_.size() < members.size()) faster_.resize(2 * members.size());
    Rate* faster = faster_.data();
    const FlowState* const flows = flows_.data();
    const std::uint32_t stamp = growing_stamp_;
    const double present = present_;
    for (const Member& member : members) {  // without branches on the kind of flow: they cannot be predicted
        const FlowState& flow = flows[member.flow];
        network_.prefetch_slot(member.slot);
        const double w = weight_of(flow, member.slot);
        const bool clean = flow.sweep < stamp;
        const bool grows = (flow.sweep == stamp) | (clean & (flow.limit == index));
        weight += only_if(grows, w);
        fixed += only_if(!grows, w * flow.rate);
        growing += grows;
        *faster = {flow.rate, w};
        faster += clean & !grows & (flow.rate > present);
    }
    faster_count_ = static_cast<std::size_t>(faster - faster_.data());
    Division& division = divisions_[index];
    division.fixed = fixed;
    division.weight = weight;
    division.growing = growing;
    division.credit = credit_full;
    take_faster(index);
}

// Finds which of the clean flows in `faster_` the link would slow: the largest set whose rates all exceed the share
// that results when its members count as growing. Approached from below: the share only rises while the set shrinks.
void MaxMinSolver::take_faster(std::uint32_t index) {
    Division& division = divisions_[index];
    const Division own = division;
    const std::span<const Rate> faster(faster_.data(), faster_count_);
    division.taken_min = infinity;
    division.kept_max = present_;
    for (const Rate& clean : faster) division.kept_max = std::max(division.kept_max, clean.rate);
    double found = share(index);
    if (own.growing == 0 && own.fixed > network_.link(index).capacity * (1 + tie)) found = present_;
    while (found < division.kept_max * (1 - tie) || found > division.taken_min) {
        division.fixed = own.fixed;
        division.weight = own.weight;
        division.growing = own.growing;
        division.kept_max = present_;
        division.taken_min = infinity;
        for (const Rate& clean : faster) {
            if (clean.rate > found) {
                division.fixed -= clean.weight * clean.rate;
                division.weight += clean.weight;
                ++division.growing;
                division.taken_min = std::min(division.taken_min, clean.rate);
            } else {
                division.kept_max = std::max(division.kept_max, clean.rate);
            }
        }
        found = share(index);
    }
}

}  // namespace rehearse

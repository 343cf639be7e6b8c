// Links that MaxMinSolver need not watch because another link is full before them.
//
// Link B covers link A when every flow on A crosses B too and takes no smaller part of it:
//     w_A / C_A <= w_B / C_B   for every flow on A, so   load_A / C_A <= load_B / C_B <= 1.
// A is full only when B is full with the same flows on it; then B limits them just as well. So the uplink of a switch
// that one host uses is covered by the link of that host, and the links of a fabric towards one receiver by its last.
//
// Covers are looked for when a link becomes overbooked and when a new flow breaks the cover. A link without a cover
// stays in play until it is no longer overbooked.
#include "models/network/flow/max_min_solver.hpp"

namespace rehearse {
namespace {

constexpr std::uint32_t links_max = 16;  // the search is quadratic in the links of a flow; longer paths are left alone

}  // namespace

void MaxMinSolver::update_covers(FlowIndex joined) {
    const FlowState& flow = flows_[joined];
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        const std::uint32_t index = network_.slot(s).link;
        const LinkState& link = network_.link(index);
        if (!is_overbooked(link) || link.level < infinity) continue;
        const std::uint32_t cover = divisions_[index].cover;
        if (cover == index || (link.is_covered && leans(flow, s, cover))) continue;
        find_cover(index);
    }
}

void MaxMinSolver::find_cover(std::uint32_t index) {
    LinkState& link = network_.link(index);
    const FlowState& flow = flows_[network_.members(link).front().flow];
    std::uint32_t cover = index;
    if (flow.count <= links_max) {
        for (std::uint32_t s = flow.first; s < flow.first + flow.count && cover == index; ++s) {
            if (covers(network_.slot(s).link, index)) cover = network_.slot(s).link;
        }
    }
    link.is_covered = cover != index;
    divisions_[index].cover = cover;
}

bool MaxMinSolver::covers(std::uint32_t cover, std::uint32_t index) const {
    for (std::uint32_t link = cover;; link = divisions_[link].cover) {  // links don't cover each other in a circle
        if (link == index) return false;
        if (!network_.link(link).is_covered) break;
    }
    for (const Member& member : network_.members(network_.link(index))) {
        if (!leans(flows_[member.flow], member.slot, cover)) return false;
    }
    return true;
}

// Whether a flow crosses `cover` too, and takes no smaller part of it than of the link of `slot`.
bool MaxMinSolver::leans(const FlowState& flow, std::uint32_t slot, std::uint32_t cover) const {
    if (flow.count > links_max) return false;
    for (std::uint32_t s = flow.first; s < flow.first + flow.count; ++s) {
        if (network_.slot(s).link != cover) continue;
        const LinkState& link = network_.link(network_.slot(slot).link);
        return weight_of(flow, slot) * network_.link(cover).capacity <= weight_of(flow, s) * link.capacity;
    }
    return false;
}

// The link can hold all its flows at their caps: nothing is kept about it.
void MaxMinSolver::drop_from_play(std::uint32_t index) {
    network_.link(index).is_covered = false;
    divisions_[index].credit = 0;
    divisions_[index].cover = no_link;
}

}  // namespace rehearse

// Who crosses what: the links of each flow and the flows of each link.
//
// Built for millions of short-lived flows over few links at a time: a link is one cache line that also holds its first
// three members, longer lists lie in a pool; a flow's links are eight bytes each. Removing a member from a short list
// is a search; members of a long list know their place.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "models/network/flow/run_pool.hpp"

namespace rehearse {

struct Member {
    std::uint32_t flow;
    std::uint32_t slot;  // the flow's entry for this link
};

struct Slot {
    std::uint32_t link;
    std::uint32_t place;  // in the member list of the link, while that is long
};

struct alignas(64) LinkState {
    static constexpr std::uint32_t inline_members = 3;

    bool is_long() const { return run_log2 > 0; }
    std::uint32_t run_length() const { return std::uint32_t{1} << run_log2; }

    double capacity = 0;                                     // bytes per second
    double demand = 0;                                       // sum of weight x cap over the members
    double level = std::numeric_limits<double>::infinity();  // rate of the flows that this link limits
    std::uint32_t count = 0;
    std::uint32_t run = 0;    // first pool index of a long list
    std::uint32_t sweep = 0;  // number of the last sweep that looked at this link
    std::uint8_t run_log2 = 0;  // of the length of a long list's run; 0: the list is short
    bool is_covered = false;    // another link is full before this one
    Member first[inline_members] = {};
};
static_assert(sizeof(LinkState) == 64);

class Memberships {
public:
    explicit Memberships(std::span<const double> capacities);  // all > 0

    LinkState& link(std::uint32_t index) { return links_[index]; }
    const LinkState& link(std::uint32_t index) const { return links_[index]; }
    std::vector<LinkState>& links() { return links_; }
    std::size_t link_count() const { return links_.size(); }
    std::span<const Member> members(const LinkState& link) const {
        return {link.is_long() ? pool_.at(link.run) : link.first, link.count};
    }

    // Slots of a flow: [first, first + count), to be filled by the caller.
    std::uint32_t take_slots(std::uint32_t count) { return slots_.take(count); }
    void give_back_slots(std::uint32_t first, std::uint32_t count) { slots_.give_back(first, count); }
    Slot& slot(std::uint32_t index) { return slots_[index]; }
    const Slot& slot(std::uint32_t index) const { return slots_[index]; }

    // Fetches the links of a flow before a loop over them whose branches depend on what they hold: the misses overlap.
    void prefetch_links(std::uint32_t first, std::uint32_t count) const {
        const Slot* const slots = slots_.at(first);
        const std::uint32_t near = count < 16 ? count : 16;
        for (std::uint32_t i = 0; i < near; ++i) __builtin_prefetch(&links_[slots[i].link]);
    }
    void prefetch_slot(std::uint32_t slot) const { __builtin_prefetch(slots_.at(slot)); }

    void add(std::uint32_t flow, std::uint32_t slot);  // to the link that the slot names
    void remove(std::uint32_t slot);

private:
    Member* list(LinkState& link) { return link.is_long() ? pool_.at(link.run) : link.first; }
    void lengthen(LinkState& link);
    void shorten(LinkState& link);

    std::vector<LinkState> links_;
    RunPool<Slot> slots_;
    RunPool<Member> pool_;
};

}  // namespace rehearse

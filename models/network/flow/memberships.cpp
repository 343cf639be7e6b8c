#include "models/network/flow/memberships.hpp"

#include <algorithm>

namespace rehearse {

Memberships::Memberships(std::span<const double> capacities) : links_(capacities.size()) {
    for (std::size_t l = 0; l < capacities.size(); ++l) {
        REHEARSE_CHECK(capacities[l] > 0, "a link has no capacity");
        links_[l].capacity = capacities[l];
    }
}

void Memberships::add(std::uint32_t flow, std::uint32_t slot) {
    LinkState& link = links_[slots_[slot].link];
    const std::uint32_t room = link.is_long() ? link.run_length() : LinkState::inline_members;
    if (link.count == room) lengthen(link);
    list(link)[link.count] = {flow, slot};
    slots_[slot].place = link.count++;
}

void Memberships::remove(std::uint32_t slot) {
    LinkState& link = links_[slots_[slot].link];
    Member* const members = list(link);
    std::uint32_t place = slots_[slot].place;
    if (!link.is_long()) {
        for (place = 0; members[place].slot != slot;) ++place;
    }
    const Member last = members[--link.count];
    members[place] = last;
    if (!link.is_long()) return;  // places are not kept in a short list
    slots_[last.slot].place = place;
    if (link.count < LinkState::inline_members) shorten(link);
}

void Memberships::lengthen(LinkState& link) {
    const std::uint32_t run = pool_.take(link.count + 1);
    const Member* const from = list(link);
    std::copy(from, from + link.count, pool_.at(run));
    if (link.is_long()) pool_.give_back(link.run, link.run_length());
    link.run = run;
    link.run_log2 = static_cast<std::uint8_t>(RunPool<Member>::run_log2(link.count + 1));
    for (std::uint32_t place = 0; place < link.count; ++place) slots_[pool_[run + place].slot].place = place;
}

void Memberships::shorten(LinkState& link) {
    std::copy(pool_.at(link.run), pool_.at(link.run) + link.count, link.first);
    pool_.give_back(link.run, link.run_length());
    link.run_log2 = 0;
}

}  // namespace rehearse

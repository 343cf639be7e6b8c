// What an event queue holds, the order it keeps, and the interface that every queue of this folder has.
//
// An event is a time and an id, 16 bytes. The total order is (time, id): the earlier time first, the smaller id first
// among equal times. It depends on nothing else, neither on the order of pushes nor on the kind of queue. What an id
// means is up to the user: the index of a wire, a Handle (handle.hpp), or a sequence number above either.
//
//     push(SimTime, id)   time >= 0 and not before the last popped event (radix heap: InvariantBroken; others allow it)
//     pop() -> Event      removes and returns the least event; InvariantBroken when empty
//     peek() -> Event     the event that pop() would return. Does not advance the queue: an event earlier than the
//     peeked
//                         one may still be pushed. Not const, because it may rearrange.
//     size(), empty(), clear()
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sim/base/units.hpp"

namespace rehearse {

struct Event {
    SimTime time;
    std::uint64_t id = 0;
    friend constexpr bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 16);

namespace detail {
__extension__ typedef unsigned __int128 EventKey;
// Times are not negative, so the pair compares as one unsigned number: no branch on equal times.
constexpr EventKey key_of(const Event& event) {
    return EventKey{static_cast<std::uint64_t>(event.time.value)} << 64 | event.id;
}
}  // namespace detail

constexpr bool operator<(const Event& a, const Event& b) { return detail::key_of(a) < detail::key_of(b); }

template <class Q>
concept QueueOfEvents = requires(Q queue, const Q& constant, SimTime time, std::uint64_t id) {
    queue.push(time, id);
    { queue.pop() } -> std::same_as<Event>;
    { queue.peek() } -> std::same_as<Event>;
    { constant.size() } -> std::same_as<std::size_t>;
    { constant.empty() } -> std::same_as<bool>;
    queue.clear();
};

}  // namespace rehearse

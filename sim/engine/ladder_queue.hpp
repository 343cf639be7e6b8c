// A ladder of bucket arrays over the digits of the time (base 256), with the width of the front adapted to the load.
//
// Rung l has 256 buckets, one per value of digit l of the time; an event waits on the rung of the highest digit in
// which its time differs from the base. When the front runs dry the lowest bucket of the lowest rung comes up: with few
// events it is sorted and becomes the front, with many it is spread over the rung below. So a bucket of the front
// covers 1 ps, 256 ps, 65.5 ns, ... whatever holds about as many events as are cheap to sort, and no width is ever
// tuned or resized. It unites the ladder queue (Tang, Goh, Thng, ACM TOMACS 15(3), 2005) with the radix heap: spread on
// demand, sort last.
//
// Events pushed into the span of the front go to a small heap beside it; pop takes the lesser of the two. That is why
// events earlier than a peeked one, and even earlier than a popped one, are in order too.
// push O(1), pop O(1) for smooth loads; never worse than O(log n + 8).
#pragma once

#include <array>
#include <bit>
#include <span>
#include <vector>

#include "sim/engine/chunk_pool.hpp"
#include "sim/engine/event.hpp"
#include "sim/engine/quad_heap.hpp"

namespace rehearse {

class LadderQueue {
public:
    void push(SimTime time, std::uint64_t id) {
        REHEARSE_CHECK(time.value >= 0, "an event before the beginning of time");
        ++size_;
        if (time.value < limit_) [[unlikely]]
            push_into_front({time, id});
        else hang({time, id});
    }

    Event pop() {
        REHEARSE_CHECK(size_ > 0, "the event queue is empty");
        if (head_ == front_.size() && late_.empty()) refill();
        --size_;
        if (late_.empty()) [[likely]]
            return front_[head_++];
        if (head_ < front_.size() && front_[head_] < late_.peek()) return front_[head_++];
        return late_.pop();
    }

    Event peek() {
        REHEARSE_CHECK(size_ > 0, "the event queue is empty");
        if (head_ == front_.size() && late_.empty()) refill();
        if (late_.empty()) return front_[head_];
        const Event least = late_.peek();
        return head_ < front_.size() && front_[head_] < least ? front_[head_] : least;
    }

    // The next events in order, as far as they are sorted by now; ones that were pushed late may be missing. A hint for
    // who wants to fetch what they refer to ahead of time.
    std::span<const Event> ahead() const { return std::span(front_).subspan(head_); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void clear() { *this = {}; }

private:
    static constexpr int digit_bits = 8;
    static constexpr std::size_t digits = 1 << digit_bits;
    static constexpr int rungs = 8;  // 8 digits hold the 63 bits of a time
    static constexpr std::uint32_t sorted_most = 96;
    static constexpr std::size_t late_most = 256;

    struct Rung {
        std::array<EventBag, digits> buckets;
        std::array<std::uint64_t, digits / 64> occupied{};
    };

    void hang(const Event& event) {
        const auto difference = static_cast<std::uint64_t>(event.time.value ^ base_);
        const int rung = (63 - std::countl_zero(difference | 1)) / digit_bits;
        hang_on(rung, event);
    }
    void hang_on(int rung, const Event& event) {
        Rung& r = rungs_[static_cast<std::size_t>(rung)];
        const auto digit = static_cast<std::size_t>(event.time.value >> (rung * digit_bits)) % digits;
        r.buckets[digit].add(event, pool_);
        r.occupied[digit / 64] |= std::uint64_t{1} << (digit % 64);
        occupied_rungs_ |= 1u << rung;
    }

    void push_into_front(const Event& event);
    void refill();
    void sort_front();
    void lower_front();

    std::array<Rung, rungs> rungs_;
    std::uint32_t occupied_rungs_ = 0;  // bit l: rung l holds events
    std::int64_t base_ = 0;             // first time of the front's span; the digits that rungs are counted from
    std::int64_t limit_ = 0;            // end of the front's span; no event on the rungs is earlier
    int front_rung_ = 0;                // the span is one bucket of this rung
    std::vector<Event> front_;          // sorted; used up to head_
    std::size_t head_ = 0;
    QuadHeap late_;  // events pushed into the span after it was sorted
    std::vector<Event> spare_;
    ChunkPool pool_;
    std::size_t size_ = 0;
};
static_assert(QueueOfEvents<LadderQueue>);

}  // namespace rehearse

// A monotone radix heap (Ahuja, Mehlhorn, Orlin, Tarjan, J. ACM 37(2), 1990): an event sits in the bucket numbered by
// the highest bit in which its time differs from the last popped time. A bucket is spread over the lower ones when it
// comes up, so each event moves at most 63 times and usually two or three. push O(1), pop O(63) amortised. Pushes
// earlier than the last popped time are InvariantBroken errors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "sim/engine/event.hpp"

namespace rehearse {

class RadixHeap {
public:
    void push(SimTime time, std::uint64_t id) {
        REHEARSE_CHECK(time >= base_, "an event is pushed before the last popped time");
        ++size_;
        put({time, id});
        if (known_ && Event{time, id} < least_) least_ = {time, id};
    }

    Event pop() {
        const Event least = peek();
        known_ = false;
        if (buckets_[0].empty()) spread(least.time);
        std::vector<Event>& now = buckets_[0];
        std::pop_heap(now.begin(), now.end(), later);
        now.pop_back();
        if (now.empty()) occupied_ &= ~std::uint64_t{1};
        --size_;
        return least;
    }

    // Looks without moving the base; the least event is remembered until the next pop, so a peek costs one scan.
    Event peek() {
        REHEARSE_CHECK(size_ > 0, "the event queue is empty");
        if (known_) return least_;
        const std::vector<Event>& lowest = buckets_[static_cast<std::size_t>(std::countr_zero(occupied_))];
        least_ = buckets_[0].empty() ? *std::min_element(lowest.begin(), lowest.end()) : buckets_[0].front();
        known_ = true;
        return least_;
    }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void clear() { *this = {}; }

private:
    static bool later(const Event& a, const Event& b) { return b < a; }

    // Bucket 0 holds the events of the base time itself as a binary heap ordered by id; the others are unordered.
    void put(const Event& event) {
        const auto difference = static_cast<std::uint64_t>(event.time.value ^ base_.value);
        const auto index = static_cast<std::size_t>(std::bit_width(difference));
        buckets_[index].push_back(event);
        occupied_ |= std::uint64_t{1} << index;
        if (index == 0) std::push_heap(buckets_[0].begin(), buckets_[0].end(), later);
    }

    void spread(SimTime least) {
        const auto index = static_cast<std::size_t>(std::countr_zero(occupied_));
        base_ = least;
        occupied_ &= ~(std::uint64_t{1} << index);
        spare_.swap(buckets_[index]);
        for (const Event& event : spare_) put(event);
        spare_.clear();
        spare_.swap(buckets_[index]);  // gives the memory back to its bucket
    }

    std::array<std::vector<Event>, 64> buckets_;
    std::vector<Event> spare_;
    std::uint64_t occupied_ = 0;  // bit i: bucket i is not empty
    SimTime base_;                // last popped time
    std::size_t size_ = 0;
    Event least_;
    bool known_ = false;  // least_ is the least pending event
};
static_assert(QueueOfEvents<RadixHeap>);

}  // namespace rehearse

#include "sim/engine/ladder_queue.hpp"

#include <algorithm>

namespace rehearse {

namespace {

// Puts a nearly sorted piece in order.
void insertion_sort(Event* first, Event* last) {
    for (Event* i = first + 1; i < last; ++i) {
        const Event event = *i;
        Event* hole = i;
        for (; hole > first && event < hole[-1]; --hole) *hole = hole[-1];
        *hole = event;
    }
}

}  // namespace

// Brings the lowest bucket to the front. Both parts of the front are used up.
void LadderQueue::refill() {
    front_.clear();
    head_ = 0;
    while (true) {
        const int l = std::countr_zero(occupied_rungs_);
        Rung& rung = rungs_[static_cast<std::size_t>(l)];
        std::size_t word = 0;
        while (rung.occupied[word] == 0) ++word;
        const std::size_t digit = word * 64 + static_cast<std::size_t>(std::countr_zero(rung.occupied[word]));
        rung.occupied[word] &= rung.occupied[word] - 1;
        const bool dry = std::all_of(rung.occupied.begin(), rung.occupied.end(), [](auto w) { return w == 0; });
        if (dry) occupied_rungs_ &= ~(1u << l);

        const int shift = l * digit_bits;
        const std::int64_t span = std::int64_t{1} << shift;
        // The digits above l stay, digit l is the bucket's, those below are zero.
        const std::int64_t above = l + 1 == rungs ? 0 : base_ >> (shift + digit_bits) << (shift + digit_bits);
        base_ = above | static_cast<std::int64_t>(digit) << shift;
        limit_ = base_ > INT64_MAX - span ? INT64_MAX : base_ + span;
        front_rung_ = l;

        EventBag& bag = rung.buckets[digit];
        if (l == 0 || bag.size() <= sorted_most) {
            front_.reserve(bag.size());
            bag.drain(pool_, [&](const Event& event) { front_.push_back(event); });
            return sort_front();
        }
        bag.drain(pool_, [&](const Event& event) { hang_on(l - 1, event); });
    }
}

// One pass over 64 bins of the span leaves the events nearly in order, insertion does the rest.
void LadderQueue::sort_front() {
    constexpr int bin_bits = 6;
    constexpr std::size_t bins = 1 << bin_bits;
    const std::size_t n = front_.size();
    if (front_rung_ == 0 || n < 16) {
        if (n <= 32) insertion_sort(front_.data(), front_.data() + n);
        else std::sort(front_.begin(), front_.end());
        return;
    }
    const int shift = front_rung_ * digit_bits - bin_bits;
    const auto bin_of = [shift](const Event& e) { return static_cast<std::size_t>(e.time.value >> shift) % bins; };
    std::array<std::uint16_t, bins> start{};
    for (const Event& event : front_) ++start[bin_of(event)];
    std::uint16_t sum = 0;
    for (std::uint16_t& s : start) {
        const std::uint16_t count = s;
        s = sum;
        sum = static_cast<std::uint16_t>(sum + count);
    }
    spare_.resize(n);
    for (const Event& event : front_) spare_[start[bin_of(event)]++] = event;
    insertion_sort(spare_.data(), spare_.data() + n);
    front_.swap(spare_);
}

void LadderQueue::push_into_front(const Event& event) {
    late_.push(event.time, event.id);
    if (late_.size() > late_most && front_rung_ > 0) lower_front();
}

// Too many events fall into the span: it becomes one bucket of the rung below and what lies behind is hung there.
void LadderQueue::lower_front() {
    const Event least = head_ < front_.size() && front_[head_] < late_.peek() ? front_[head_] : late_.peek();
    if (least.time.value < base_) return;  // events from before the base cannot be hung
    const int shift = --front_rung_ * digit_bits;
    base_ = least.time.value >> shift << shift;
    limit_ = base_ + (std::int64_t{1} << shift);
    const auto behind = [this](const Event& e) { return e.time.value >= limit_; };
    const auto first_behind = std::partition_point(front_.begin() + static_cast<std::ptrdiff_t>(head_), front_.end(),
                                                   [&](const Event& e) { return !behind(e); });
    for (auto e = first_behind; e != front_.end(); ++e) hang(*e);
    front_.erase(first_behind, front_.end());
    spare_.assign(late_.begin(), late_.end());
    late_.clear();
    for (const Event& event : spare_) {
        if (behind(event)) hang(event);
        else late_.push(event.time, event.id);
    }
}

}  // namespace rehearse

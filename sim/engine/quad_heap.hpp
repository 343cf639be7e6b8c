// A heap of four children per node. Half as deep as a binary heap, and the four children fill one cache line of 64
// bytes (the array begins three entries into an aligned block, so that each family starts on a line). push O(log n),
// pop O(log n), peek O(1). Any push order.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "sim/engine/event.hpp"

namespace rehearse {

class QuadHeap {
public:
    void push(SimTime time, std::uint64_t id) {
        REHEARSE_CHECK(time.value >= 0, "an event before the beginning of time");
        if (size_ + lead >= slots_.size()) grow();
        const Event event{time, id};
        std::size_t at = size_++;
        while (at > 0) {
            const std::size_t parent = (at - 1) / 4;
            if (!(event < slot(parent))) break;
            slot(at) = slot(parent);
            at = parent;
        }
        slot(at) = event;
    }

    Event pop() {
        const Event least = peek();
        const Event last = slot(--size_);
        if (size_ > 0) sift_down(last);
        return least;
    }

    Event peek() {
        REHEARSE_CHECK(size_ > 0, "the event queue is empty");
        return slot(0);
    }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void clear() { size_ = 0; }

    // The events in no particular order.
    const Event* begin() const { return slots_.data() + lead; }
    const Event* end() const { return slots_.data() + lead + size_; }

private:
    static constexpr std::size_t lead = 3;  // slot 0 sits at the end of the first line, its children fill the second

    template <class T>
    struct LineAllocator {
        using value_type = T;
        LineAllocator() = default;
        template <class U>
        LineAllocator(const LineAllocator<U>&) {}
        T* allocate(std::size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
        void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{64}); }
        friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
    };

    Event& slot(std::size_t i) { return slots_[i + lead]; }
    void grow() { slots_.resize(slots_.empty() ? 64 : 2 * slots_.size()); }

    // Moves the hole at the top down to where `event` belongs.
    void sift_down(const Event& event) {
        std::size_t hole = 0;
        for (std::size_t child = 1; child < size_; child = 4 * hole + 1) {
            if (child + 4 <= size_) {
                const std::size_t a = child + (slot(child + 1) < slot(child));
                const std::size_t b = child + 2 + (slot(child + 3) < slot(child + 2));
                child = slot(b) < slot(a) ? b : a;
            } else {
                std::size_t best = child;
                for (std::size_t i = child + 1; i < size_; ++i)
                    if (slot(i) < slot(best)) best = i;
                child = best;
            }
            if (!(slot(child) < event)) break;
            slot(hole) = slot(child);
            hole = child;
        }
        slot(hole) = event;
    }

    std::vector<Event, LineAllocator<Event>> slots_;
    std::size_t size_ = 0;
};
static_assert(QueueOfEvents<QuadHeap>);

}  // namespace rehearse

// The obvious event queue, std::priority_queue: the reference that the others are tested against.
#pragma once

#include <queue>
#include <vector>

#include "sim/engine/event.hpp"

namespace rehearse {

class BinaryHeap {
public:
    void push(SimTime time, std::uint64_t id) {
        REHEARSE_CHECK(time.value >= 0, "an event before the beginning of time");
        heap_.push({time, id});
    }
    Event pop() {
        const Event least = peek();
        heap_.pop();
        return least;
    }
    Event peek() {
        REHEARSE_CHECK(!heap_.empty(), "the event queue is empty");
        return heap_.top();
    }
    std::size_t size() const { return heap_.size(); }
    bool empty() const { return heap_.empty(); }
    void clear() { heap_ = {}; }

private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const { return b < a; }
    };
    std::priority_queue<Event, std::vector<Event>, Later> heap_;
};
static_assert(QueueOfEvents<BinaryHeap>);

}  // namespace rehearse

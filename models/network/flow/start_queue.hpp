// Flows that wait for their first byte, by (time, flow).
//
// Starts arrive nearly in order: the clock moves on, and the few path latencies of a fabric only interleave a few
// ordered sequences. So each is appended to the first lane whose last entry is not later, and only what fits no lane
// goes through a heap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace rehearse {

class StartQueue {
public:
    struct Entry {
        std::int64_t at = INT64_MAX;
        std::uint32_t flow = UINT32_MAX;
    };

    void push(std::int64_t at, std::uint32_t flow) {
        const Entry entry{at, flow};
        for (Lane& lane : lanes_) {
            if (lane.head < lane.entries.size() && !before(lane.entries.back(), entry)) continue;
            lane.entries.push_back(entry);
            if (before(entry, top_)) top_ = entry;
            return;
        }
        rest_.push_back(entry);
        std::push_heap(rest_.begin(), rest_.end(), later);
        if (before(entry, top_)) top_ = entry;
    }
    std::int64_t next() const { return top_.at; }  // INT64_MAX when empty
    std::uint32_t pop() {
        const std::uint32_t flow = top_.flow;
        take(flow);
        top_ = rest_.empty() ? Entry{} : rest_.front();
        for (const Lane& lane : lanes_) {
            if (lane.head < lane.entries.size() && before(lane.entries[lane.head], top_))
                top_ = lane.entries[lane.head];
        }
        return flow;
    }

private:
    struct Lane {
        std::vector<Entry> entries;
        std::size_t head = 0;
    };

    static bool before(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.flow < b.flow; }
    static bool later(const Entry& a, const Entry& b) { return before(b, a); }
    void take(std::uint32_t flow) {
        for (Lane& lane : lanes_) {
            if (lane.head == lane.entries.size() || lane.entries[lane.head].flow != flow) continue;
            if (++lane.head == lane.entries.size()) {
                lane.entries.clear();
                lane.head = 0;
            } else if (lane.head >= 1024 && 2 * lane.head > lane.entries.size()) {  // the used half makes room
                lane.entries.erase(lane.entries.begin(), lane.entries.begin() + static_cast<std::ptrdiff_t>(lane.head));
                lane.head = 0;
            }
            return;
        }
        std::pop_heap(rest_.begin(), rest_.end(), later);
        rest_.pop_back();
    }

    std::array<Lane, 6> lanes_;
    std::vector<Entry> rest_;  // a heap
    Entry top_;
};

}  // namespace rehearse

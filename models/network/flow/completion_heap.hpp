// An indexed 4-ary heap of (time, flow). Total order by (time, flow), so that equal inputs pop equally.
//
// A flow that speeds up moves up at once; one that slows down keeps its early key, and the owner corrects it when it
// comes up (postpone_top): most flows change their rate several times before they end, and only the top must be right.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace rehearse {

class CompletionHeap {
public:
    struct Entry {
        std::int64_t at;
        std::uint32_t flow;
    };

    bool empty() const { return heap_.empty(); }
    const Entry& top() const { return heap_.front(); }
    // The flows that come up soon: the first two in order, the other children of the top, those of the second; from
    // these come all that rise when the top leaves.
    struct Ahead {
        std::array<std::uint32_t, 9> flows;
        std::size_t near;   // of them, the top and its children
        std::size_t count;
    };
    Ahead ahead() const {
        Ahead ahead{{}, std::min(heap_.size(), std::size_t{5}), 0};
        std::size_t second = 1;
        for (std::size_t place = 0; place < ahead.near; ++place) {
            ahead.flows[place] = heap_[place].flow;
            if (place > 1 && before(heap_[place], heap_[second])) second = place;
        }
        if (ahead.near > 2) std::swap(ahead.flows[1], ahead.flows[second]);
        ahead.count = ahead.near;
        for (std::size_t place = 4 * second + 1; place < std::min(heap_.size(), 4 * second + 5); ++place) {
            ahead.flows[ahead.count++] = heap_[place].flow;
        }
        return ahead;
    }

    // The flow is due at `at` or later; at first call it enters.
    void advance_to(std::uint32_t flow, std::int64_t at) {
        if (flow >= position_.size()) position_.resize(flow + 1, absent);
        std::uint32_t place = position_[flow];
        if (place == absent) {
            place = static_cast<std::uint32_t>(heap_.size());
            heap_.push_back({at, flow});
        } else if (heap_[place].at <= at) {
            return;
        }
        sift_up(place, {at, flow});
    }
    void postpone_top(std::int64_t at) { sift_down(0, {at, heap_.front().flow}); }
    void pop() {
        position_[heap_.front().flow] = absent;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sift_down(0, last);
    }

private:
    static constexpr std::uint32_t absent = UINT32_MAX;

    static bool before(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.flow < b.flow; }
    void put(std::uint32_t place, const Entry& entry) {
        heap_[place] = entry;
        position_[entry.flow] = place;
    }
    void sift_up(std::uint32_t place, const Entry entry) {
        while (place > 0) {
            const std::uint32_t parent = (place - 1) / 4;
            if (!before(entry, heap_[parent])) break;
            put(place, heap_[parent]);
            place = parent;
        }
        put(place, entry);
    }
    void sift_down(std::uint32_t place, const Entry entry) {
        const auto size = static_cast<std::uint32_t>(heap_.size());
        while (true) {
            const std::uint32_t first = 4 * place + 1;
            if (first >= size) break;
            std::uint32_t least = first;
            for (std::uint32_t child = first + 1; child < first + 4 && child < size; ++child) {
                if (before(heap_[child], heap_[least])) least = child;
            }
            if (!before(heap_[least], entry)) break;
            put(place, heap_[least]);
            place = least;
        }
        put(place, entry);
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> position_;  // by flow
};

}  // namespace rehearse

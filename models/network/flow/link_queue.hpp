// The sweep's queue: an indexed 4-ary heap of (key, link), smallest first, each link at most once. Keys move both ways:
// a share falls when a flow is released onto the link, and rises while flows stop elsewhere. Equal keys leave in an
// order that follows from the order of the calls alone.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

class LinkQueue {
public:
    struct Entry {
        double key;
        std::uint32_t link;
    };

    explicit LinkQueue(std::size_t links) : places_(links, absent) {}

    bool empty() const { return heap_.empty(); }
    const Entry& top() const { return heap_.front(); }
    // Enters the link, or moves it up when it is there with a larger key.
    void lower(Entry entry) {
        std::uint32_t place = places_[entry.link];
        if (place == absent) {
            place = static_cast<std::uint32_t>(heap_.size());
            heap_.push_back(entry);
        } else if (heap_[place].key <= entry.key) {
            return;
        }
        while (place > 0) {
            const std::uint32_t parent = (place - 1) / 4;
            if (!(entry.key < heap_[parent].key)) break;
            put(place, heap_[parent]);
            place = parent;
        }
        put(place, entry);
    }
    void pop() {
        places_[heap_.front().link] = absent;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) replace_top(last);
    }
    // The top gets another key, or another link takes its place.
    void replace_top(const Entry entry) {
        const Entry* const heap = heap_.data();
        const std::size_t size = heap_.size();
        std::size_t place = 0;
        for (std::size_t first = 1; first < size; first = 4 * place + 1) {
            std::size_t least = first;
            if (first + 4 <= size) {  // selections without branches: their outcome cannot be predicted
                const std::size_t left = first + (heap[first + 1].key < heap[first].key ? 1 : 0);
                const std::size_t right = first + 2 + (heap[first + 3].key < heap[first + 2].key ? 1 : 0);
                least = heap[right].key < heap[left].key ? right : left;
            } else {
                for (std::size_t child = first + 1; child < size; ++child) {
                    if (heap[child].key < heap[least].key) least = child;
                }
            }
            if (!(heap[least].key < entry.key)) break;
            put(static_cast<std::uint32_t>(place), heap[least]);
            place = least;
        }
        put(static_cast<std::uint32_t>(place), entry);
    }

private:
    static constexpr std::uint32_t absent = UINT32_MAX;
    void put(std::uint32_t place, const Entry entry) {
        heap_[place] = entry;
        places_[entry.link] = place;
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> places_;  // by link
};

}  // namespace rehearse

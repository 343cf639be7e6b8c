// The sweep's queue: a 4-ary heap of (key, link), smallest first. Equal keys leave in an order that
// follows from the order of the calls alone. Its top can be replaced in one pass,
// which is what happens to most entries: the share of a link rises while it waits.
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

    bool empty() const { return heap_.empty(); }
    const Entry& top() const { return heap_.front(); }
    void push(Entry entry) {
        std::size_t place = heap_.size();
        heap_.push_back(entry);
        while (place > 0) {
            const std::size_t parent = (place - 1) / 4;
            if (!(entry.key < heap_[parent].key)) break;
            heap_[place] = heap_[parent];
            place = parent;
        }
        heap_[place] = entry;
    }
    void pop() {
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) replace_top(last);
    }
    void replace_top(const Entry entry) {
        Entry* const heap = heap_.data();
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
            heap[place] = heap[least];
            place = least;
        }
        heap[place] = entry;
    }

private:
    std::vector<Entry> heap_;
};

}  // namespace rehearse

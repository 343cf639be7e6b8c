// A heap of loads (load_key.hpp), the first key first. Four children a node: half the levels of a binary heap, and the
// comparisons of a level do not wait for each other. The first key can be replaced in one pass, where a pop and a push
// take two.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/balancer/load_key.hpp"

namespace rehearse {

class FirstHeap {
public:
    explicit FirstHeap(std::vector<LoadKey> keys) : keys_(std::move(keys)) {
        for (std::size_t at = (keys_.size() + 2) / 4; at-- > 0;) sink(at, keys_[at]);
    }

    bool empty() const { return keys_.empty(); }
    LoadKey first() const { return keys_.front(); }
    void replace_first(LoadKey key) { sink(0, key); }
    void drop_first() {
        const LoadKey last = keys_.back();
        keys_.pop_back();
        if (!keys_.empty()) sink(0, last);
    }
    void add(LoadKey key) {
        std::size_t at = keys_.size();
        keys_.push_back(key);
        for (; at > 0 && key < keys_[(at - 1) / 4]; at = (at - 1) / 4) keys_[at] = keys_[(at - 1) / 4];
        keys_[at] = key;
    }

private:
    std::size_t lesser(std::size_t a, std::size_t b) const { return keys_[b] < keys_[a] ? b : a; }
    std::size_t least_child(std::size_t first) const {
        if (first + 3 < keys_.size()) return lesser(lesser(first, first + 1), lesser(first + 2, first + 3));
        std::size_t least = first;
        for (std::size_t child = first + 1; child < keys_.size(); ++child) least = lesser(least, child);
        return least;
    }
    void sink(std::size_t at, LoadKey key) {
        while (4 * at + 1 < keys_.size()) {
            const std::size_t child = least_child(4 * at + 1);
            if (!(keys_[child] < key)) break;
            keys_[at] = keys_[child];
            at = child;
        }
        keys_[at] = key;
    }

    std::vector<LoadKey> keys_;
};

}  // namespace rehearse

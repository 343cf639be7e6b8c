// A table from non-zero 64-bit keys to 32-bit indices; only ever grows. Small keys, such as those that callers number
// from 1 on, index an array directly; larger ones go through a flat hash table, one cache line per look-up.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

class KeyTable {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    // The index stored under `key` (not 0); a new key is stored with `fresh`, which is then returned.
    std::uint32_t find_or_add(std::uint64_t key, std::uint32_t fresh) {
        std::uint32_t& index = key < small_keys ? small(key) : large(key);
        if (index == none) index = fresh;
        return index;
    }
    // The index stored under a small key; `none` for others.
    std::uint32_t find_small(std::uint64_t key) const { return key < small_.size() ? small_[key] : none; }

private:
    static constexpr std::uint64_t small_keys = 1 << 20;
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t index = none;
    };

    std::uint32_t& small(std::uint64_t key) {
        if (key >= small_.size()) small_.resize(key + 1, none);
        return small_[key];
    }
    std::uint32_t& large(std::uint64_t key) {
        if (2 * (used_ + 1) > entries_.size()) grow();
        Entry& entry = place_of(key);
        used_ += entry.key == 0;
        entry.key = key;
        return entry.index;
    }
    Entry& place_of(std::uint64_t key) {
        const std::size_t mask = entries_.size() - 1;
        std::size_t place = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & mask;  // Fibonacci hashing
        while (entries_[place].key != 0 && entries_[place].key != key) place = (place + 1) & mask;
        return entries_[place];
    }
    void grow() {
        std::vector<Entry> old(entries_.empty() ? 16 : 2 * entries_.size());
        old.swap(entries_);
        for (const Entry& entry : old) {
            if (entry.key != 0) place_of(entry.key) = entry;
        }
    }

    std::vector<std::uint32_t> small_;
    std::vector<Entry> entries_;
    std::size_t used_ = 0;
};

}  // namespace rehearse

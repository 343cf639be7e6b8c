// A flat hash table from non-zero 64-bit keys to 32-bit indices; only ever grows. One cache line per look-up, where the
// standard table takes three.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

class KeyTable {
public:
    // The index stored under `key` (not 0); a new key is stored with `fresh`, which is then returned.
    std::uint32_t find_or_add(std::uint64_t key, std::uint32_t fresh) {
        if (2 * (used_ + 1) > entries_.size()) grow();
        Entry& entry = entries_[place_of(key)];
        if (entry.key == 0) {
            entry = {key, fresh};
            ++used_;
        }
        return entry.index;
    }

    // The index stored under `key`; UINT32_MAX: none.
    std::uint32_t find(std::uint64_t key) const {
        if (entries_.empty()) return UINT32_MAX;
        const Entry& entry = entries_[place_of(key)];
        return entry.key == key ? entry.index : UINT32_MAX;
    }
    [[gnu::always_inline]] void prefetch(std::uint64_t key) const {
        if (!entries_.empty()) __builtin_prefetch(&entries_[first_place(key)]);
    }

private:
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t index = 0;
    };

    std::size_t first_place(std::uint64_t key) const {  // Fibonacci hashing
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & (entries_.size() - 1);
    }
    std::size_t place_of(std::uint64_t key) const {  // of the key, or where it would be put
        std::size_t place = first_place(key);
        while (entries_[place].key != 0 && entries_[place].key != key) place = (place + 1) & (entries_.size() - 1);
        return place;
    }
    void grow() {
        std::vector<Entry> old(entries_.empty() ? 16 : 2 * entries_.size());
        old.swap(entries_);
        for (const Entry& entry : old) {
            if (entry.key != 0) entries_[place_of(entry.key)] = entry;
        }
    }

    std::vector<Entry> entries_;
    std::size_t used_ = 0;
};

}  // namespace rehearse

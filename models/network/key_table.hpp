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
        Entry& entry = place_of(key);
        if (entry.key == 0) {
            entry = {key, fresh};
            ++used_;
        }
        return entry.index;
    }

private:
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t index = 0;
    };

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

    std::vector<Entry> entries_;
    std::size_t used_ = 0;
};

}  // namespace rehearse

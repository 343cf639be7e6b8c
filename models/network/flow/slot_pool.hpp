// Storage for the link lists of flows: runs of slots in one array, in size classes of powers of two, so that neither a
// new flow nor a finished one touches the allocator once the array has grown.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/base/checks.hpp"

namespace rehearse {

struct Slot {
    double weight = 0;
    std::uint32_t link = 0;
    std::uint32_t position = 0;  // place in the link's list of members while the flow takes part
};

class SlotPool {
public:
    // First index of a run of at least `count` slots.
    std::uint32_t take(std::uint32_t count) {
        const std::uint32_t size_class = class_of(count);
        auto& free = free_[size_class];
        if (!free.empty()) {
            const std::uint32_t first = free.back();
            free.pop_back();
            return first;
        }
        const std::size_t first = slots_.size();
        const std::size_t grown = first + (std::size_t{1} << size_class);
        REHEARSE_CHECK(grown < UINT32_MAX, "the link lists of the active flows exceed 2^32 entries");
        slots_.resize(grown);
        return static_cast<std::uint32_t>(first);
    }
    void give_back(std::uint32_t first, std::uint32_t count) { free_[class_of(count)].push_back(first); }

    Slot& operator[](std::uint32_t index) { return slots_[index]; }
    const Slot& operator[](std::uint32_t index) const { return slots_[index]; }

private:
    // Four slots (64 bytes) at least: a cache line.
    static std::uint32_t class_of(std::uint32_t count) {
        return count <= 4 ? 2 : static_cast<std::uint32_t>(std::bit_width(count - 1));
    }

    std::vector<Slot> slots_;
    std::array<std::vector<std::uint32_t>, 33> free_;
};

}  // namespace rehearse

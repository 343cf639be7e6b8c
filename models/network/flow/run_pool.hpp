// Storage for many short lists: runs in one array, in size classes of powers of two. Neither a new list nor a dropped
// one touches the allocator once the array has grown, and a list is an index, not an address. The array begins on a
// boundary of 128 bytes, so that no run of eight slots straddles two cache lines.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <new>
#include <vector>

#include "sim/base/checks.hpp"

namespace rehearse {

template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{128};
    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), alignment)); }
    void deallocate(T* items, std::size_t) { ::operator delete(items, alignment); }
    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

template <class T>
class RunPool {
public:
    // First index of a run of at least `count` items (and of 2^run_log2(count) exactly).
    std::uint32_t take(std::uint32_t count) {
        const std::uint32_t size_class = run_log2(count);
        auto& free = free_[size_class];
        if (!free.empty()) {
            const std::uint32_t first = free.back();
            free.pop_back();
            return first;
        }
        const std::size_t first = items_.size();
        const std::size_t grown = first + (std::size_t{1} << size_class);
        REHEARSE_CHECK(grown < UINT32_MAX, "the link lists of the active flows exceed 2^32 entries");
        items_.resize(grown);
        return static_cast<std::uint32_t>(first);
    }
    void give_back(std::uint32_t first, std::uint32_t count) { free_[run_log2(count)].push_back(first); }
    // log2 of a run's length: eight items at least.
    static std::uint32_t run_log2(std::uint32_t count) {
        return count <= 8 ? 3 : static_cast<std::uint32_t>(std::bit_width(count - 1));
    }

    T& operator[](std::uint32_t index) { return items_[index]; }
    const T& operator[](std::uint32_t index) const { return items_[index]; }
    T* at(std::uint32_t index) { return items_.data() + index; }
    const T* at(std::uint32_t index) const { return items_.data() + index; }

private:
    std::vector<T, LineAllocator<T>> items_;
    std::array<std::vector<std::uint32_t>, 33> free_;
};

}  // namespace rehearse

// Small records that events refer to, without allocation per event: a slab of reusable slots, and handles that know
// when the slot they meant has been given to another record.
//
//     EventSlab<Timer> timers;
//     Handle h = timers.add({flow, deadline});
//     queue.push(deadline, h.id());
//     ...
//     if (Timer* timer = timers.find(Handle::from_id(event.id))) ...   // nullptr: it was cancelled by remove(h)
//
// Cancelling is removing: the queue keeps the event and the reader of the event finds no record. Slots are reused last
// in, first out; a slot retires after 2^32 - 2 records. A default handle is null and finds nothing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/checks.hpp"

namespace rehearse {

struct Handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;  // 0 = null; a live slot has an odd generation

    constexpr bool valid() const { return generation != 0; }
    // As the id of an event. Among equal times the handle of the lower slot comes first.
    constexpr std::uint64_t id() const { return std::uint64_t{index} << 32 | generation; }
    static constexpr Handle from_id(std::uint64_t id) {
        return {static_cast<std::uint32_t>(id >> 32), static_cast<std::uint32_t>(id)};
    }
    friend constexpr bool operator==(const Handle&, const Handle&) = default;
};

template <class T>
class EventSlab {
public:
    Handle add(T record) {
        std::uint32_t index = first_free_;
        if (index == none) {
            REHEARSE_CHECK(slots_.size() < none, "the slab is full");
            index = static_cast<std::uint32_t>(slots_.size());
            slots_.emplace_back();
        } else {
            first_free_ = slots_[index].next_free;
        }
        Slot& slot = slots_[index];
        ++slot.generation;  // even (free) -> odd (live)
        slot.record = std::move(record);
        ++size_;
        return {index, slot.generation};
    }

    // nullptr when the handle is null, removed, or of a slot that now holds another record.
    T* find(Handle handle) { return live(handle) ? &slots_[handle.index].record : nullptr; }
    const T* find(Handle handle) const { return live(handle) ? &slots_[handle.index].record : nullptr; }

    // True when the record was there. Addresses of records are good until the next add().
    bool remove(Handle handle) {
        if (!live(handle)) return false;
        Slot& slot = slots_[handle.index];
        slot.record = T{};
        ++slot.generation;
        --size_;
        constexpr std::uint32_t worn_out = UINT32_MAX - 1;
        if (slot.generation == worn_out) return true;
        slot.next_free = first_free_;
        first_free_ = handle.index;
        return true;
    }

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return slots_.size(); }

private:
    static constexpr std::uint32_t none = UINT32_MAX;

    struct Slot {
        T record{};
        std::uint32_t generation = 0;
        std::uint32_t next_free = none;
    };

    bool live(Handle handle) const {
        return handle.index < slots_.size() && handle.generation % 2 == 1 &&
               slots_[handle.index].generation == handle.generation;
    }

    std::vector<Slot> slots_;
    std::uint32_t first_free_ = none;
    std::size_t size_ = 0;
};

}  // namespace rehearse

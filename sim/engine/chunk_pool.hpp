// Unordered bags of events made of fixed chunks from one pool. A drained chunk is handed out again first, while it is
// still in the cache; memory is taken from the system only when more events are pending than ever before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/event.hpp"

namespace rehearse {

struct EventChunk {
    static constexpr std::size_t capacity = 31;  // 31 events and a link fill 512 bytes
    Event events[capacity];
    EventChunk* next;
    std::uint64_t unused;
};
static_assert(sizeof(EventChunk) == 512);

class ChunkPool {
public:
    EventChunk* take() {
        if (free_ == nullptr) grow();
        EventChunk* chunk = free_;
        free_ = chunk->next;
        return chunk;
    }
    void give_back(EventChunk* chunk) {
        chunk->next = free_;
        free_ = chunk;
    }

private:
    void grow() {
        constexpr std::size_t chunks_per_block = 64;
        blocks_.push_back(std::make_unique<EventChunk[]>(chunks_per_block));
        for (std::size_t i = chunks_per_block; i-- > 0;) give_back(&blocks_.back()[i]);
    }

    EventChunk* free_ = nullptr;
    std::vector<std::unique_ptr<EventChunk[]>> blocks_;
};

// A bag; its chunks belong to the pool that is passed in. The newest chunk comes first, only that one is part full.
class EventBag {
public:
    std::uint32_t size() const { return size_; }

    void add(const Event& event, ChunkPool& pool) {
        if (fill_ == EventChunk::capacity) {
            EventChunk* chunk = pool.take();
            chunk->next = first_;
            first_ = chunk;
            fill_ = 0;
        }
        first_->events[fill_++] = event;
        ++size_;
    }

    // Calls visit(event) for each event and leaves the bag empty.
    template <class Visit>
    void drain(ChunkPool& pool, const Visit& visit) {
        std::uint32_t count = fill_;
        for (EventChunk* chunk = first_; chunk != nullptr; count = EventChunk::capacity) {
            EventChunk* next = chunk->next;
            for (std::uint32_t i = 0; i < count; ++i) visit(chunk->events[i]);
            pool.give_back(chunk);
            chunk = next;
        }
        first_ = nullptr;
        fill_ = EventChunk::capacity;
        size_ = 0;
    }

private:
    EventChunk* first_ = nullptr;
    std::uint32_t fill_ = EventChunk::capacity;  // of the first chunk; "full" when there is none
    std::uint32_t size_ = 0;
};
static_assert(sizeof(EventBag) == 16);

}  // namespace rehearse

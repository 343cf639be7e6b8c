// Where packets stand from the moment they leave a NIC until they are taken or lost: one cache line each, which queues
// and wires pass on by its address. The slot given back last is taken first, as it is most likely still in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/network/packet/packet.hpp"

namespace rehearse {

struct alignas(64) PacketSlot {
    Packet packet;
    PacketSlot* next = nullptr;  // of its queue
};
static_assert(sizeof(PacketSlot) == 64);

// Slots of one partition. They live as long as the pool.
class PacketPool {
public:
    PacketSlot& take() {
        if (free_ == nullptr) grow();
        PacketSlot& slot = *free_;
        free_ = slot.next;
        return slot;
    }
    PacketSlot& take(const Packet& packet) {
        PacketSlot& slot = take();
        slot.packet = packet;
        return slot;
    }
    void give_back(PacketSlot& slot) {
        slot.next = free_;
        free_ = &slot;
    }

private:
    void grow() {
        chunks_.push_back(std::make_unique<PacketSlot[]>(chunk));
        for (std::size_t i = chunk; i-- > 0;) give_back(chunks_.back()[i]);
    }

    static constexpr std::size_t chunk = 1024;
    PacketSlot* free_ = nullptr;
    std::vector<std::unique_ptr<PacketSlot[]>> chunks_;
};

struct WireEntry {
    std::int64_t time;  // its last bit arrives, ps
    PacketSlot* slot;
};

// First in, first out.
class PacketQueue {
public:
    bool empty() const { return first_ == nullptr; }
    PacketSlot& front() { return *first_; }
    void push(PacketSlot& slot) {
        slot.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &slot;
        last_ = &slot;
    }
    PacketSlot& pop() {  // not empty
        PacketSlot& slot = *first_;
        first_ = slot.next;
        __builtin_prefetch(first_);  // it goes next, and may have waited for long
        return slot;
    }

private:
    PacketSlot *first_ = nullptr, *last_ = nullptr;
};

}  // namespace rehearse

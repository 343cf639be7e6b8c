// A FIFO in a power-of-two ring that doubles when it is full. Empty until first used: most of a fabric's queues are.
#pragma once

#include <cstdint>
#include <memory>

namespace rehearse {

template <class T>
class Ring {
public:
    bool empty() const { return head_ == tail_; }
    std::uint32_t size() const { return tail_ - head_; }
    std::uint32_t capacity() const { return capacity_; }
    T& front() { return slots_[head_ & (capacity_ - 1)]; }
    const T& front() const { return slots_[head_ & (capacity_ - 1)]; }
    T& operator[](std::uint32_t i) { return slots_[(head_ + i) & (capacity_ - 1)]; }
    void pop() { ++head_; }
    void clear() { head_ = tail_; }
    T& push(const T& value) {
        if (size() == capacity_) grow();
        T& slot = slots_[tail_++ & (capacity_ - 1)];
        slot = value;
        return slot;
    }

private:
    void grow() {
        const std::uint32_t wider = capacity_ == 0 ? first_capacity : 2 * capacity_;
        auto slots = std::make_unique_for_overwrite<T[]>(wider);
        const std::uint32_t n = size();
        for (std::uint32_t i = 0; i < n; ++i) slots[i] = (*this)[i];
        slots_ = std::move(slots);
        capacity_ = wider;
        head_ = 0;
        tail_ = n;
    }

    static constexpr std::uint32_t first_capacity = 8;
    std::unique_ptr<T[]> slots_;
    std::uint32_t capacity_ = 0;
    std::uint32_t head_ = 0, tail_ = 0;
};

}  // namespace rehearse

// A kernel body is a struct whose members are its arguments and whose call operator is the work of one block:
//
//     template <class Block> REHEARSE_BODY void operator()(Block& block, std::int64_t index) const;
//
// It is written once against the operations below. SerialBlock (here) is the fast CPU path: one thread is the block and
// every operation is a plain loop. ThreadedBlock runs one thread per thread of the block with real barriers, for the
// sanitizers. CudaBlock and CudaWarp (cuda/block.cuh) are a thread block and a warp.
//
//     block.for_each(n, f)        f(i) once for each i < n, by any thread, in any order
//     block.for_each_pack<T>(n, f)    f(width, i): the same by runs of `width` elements, an integral constant
//     block.sum<T>(n, f)          sum of the packs f(width, i), cut as for_each_pack<T> cuts. Every thread gets it.
//     block.most(n, values)       largest of n floats; NaNs do not count, and without a number it is -infinity
//     block.max(n, f)             largest f(i), an int64; `lowest` if there is none
//                                 These three are collective: every thread of the block must call.
//     block.sync()                what was written before is seen after, by all threads of the block. Collective.
//     block.shared<T>(n)          n elements that all threads share, not initialised. Collective, in the same order.
//     block.add(counter, n)       atomic
//
// Bodies that share memory also give its size: std::size_t shared_bytes() const.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/pack.hpp"

namespace rehearse::kernels {

constexpr std::size_t shared_alignment = 64;

// Bytes of `n` elements, rounded up to where the next shared array may start.
template <class T>
constexpr std::size_t shared_size(std::int64_t n) {
    return (static_cast<std::size_t>(n) * sizeof(T) + shared_alignment - 1) / shared_alignment * shared_alignment;
}

template <int width>
using Width = std::integral_constant<int, width>;

// The shared memory of a block, handed out front to back.
class SharedMemory {
public:
    explicit SharedMemory(std::byte* begin) : next_(begin) {}

    template <class T>
    T* take(std::int64_t n) {
        T* const taken = reinterpret_cast<T*>(next_);
        next_ += shared_size<T>(n);
        return taken;
    }

private:
    std::byte* next_;
};

class SerialBlock {
public:
    static constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    static constexpr int lanes = 16;  // elements of a pack: 64 bytes of fp32

    explicit SerialBlock(std::byte* shared) : shared_(shared) {}

    template <class F>
    void for_each(std::int64_t n, F&& f) {
        for (std::int64_t i = 0; i < n; ++i) f(i);
    }

    template <class T, class F>
    void for_each_pack(std::int64_t n, F&& f) {
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) f(Width<lanes>{}, i);
        for (; i < n; ++i) f(Width<1>{}, i);
    }

    template <class T, class F>
    float sum(std::int64_t n, F&& f) {
        Pack<lanes> part{};
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) part = part + f(Width<lanes>{}, i);
        float total = 0;
        for (; i < n; ++i) total += f(Width<1>{}, i);
        for (int lane = 0; lane < lanes; ++lane) total += part[lane];
        return total;
    }

    float most(std::int64_t n, const float* values) {
        Pack<lanes> part = Pack<lanes>{} - std::numeric_limits<float>::infinity();
        std::int64_t i = 0;
        for (; i + lanes <= n; i += lanes) {
            const Pack<lanes> value = load<lanes>(values + i);
            part = value > part ? value : part;
        }
        float most = -std::numeric_limits<float>::infinity();
        for (; i < n; ++i) most = values[i] > most ? values[i] : most;
        for (int lane = 0; lane < lanes; ++lane) most = part[lane] > most ? part[lane] : most;
        return most;
    }

    template <class F>
    std::int64_t max(std::int64_t n, F&& f) {
        std::int64_t most = lowest;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t value = f(i);
            most = value > most ? value : most;
        }
        return most;
    }

    void sync() {}
    void add(std::int32_t* counter, std::int32_t n) { *counter += n; }

    template <class T>
    T* shared(std::int64_t n) {
        return shared_.take<T>(n);
    }

private:
    SharedMemory shared_;
};

}  // namespace rehearse::kernels

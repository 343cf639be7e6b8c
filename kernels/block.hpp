// A kernel body is a struct whose members are its arguments and whose call operator is the work of one block:
//
//     template <class Block> REHEARSE_BODY void operator()(Block& block, std::int64_t index) const;
//
// It is written once against the operations below. SerialBlock is the fast CPU path: one thread is the block and every
// operation is a plain loop. ThreadedBlock runs one thread per thread of the block with real barriers, for the
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
#include <type_traits>

#include "kernels/pack.hpp"

namespace rehearse::kernels {

constexpr std::int64_t lowest = -0x7fffffffffffffff - 1;
constexpr std::size_t shared_alignment = 64;

// Bytes of `n` elements, rounded up to where the next shared array may start.
template <class T>
REHEARSE_SCALAR constexpr std::size_t shared_size(std::int64_t n) {
    return (static_cast<std::size_t>(n) * sizeof(T) + shared_alignment - 1) / shared_alignment * shared_alignment;
}

template <int width>
using Width = std::integral_constant<int, width>;

// The shared memory of a block, handed out front to back.
class SharedMemory {
public:
    REHEARSE_BODY explicit SharedMemory(std::byte* begin) : next_(begin) {}

    template <class T>
    REHEARSE_BODY T* take(std::int64_t n) {
        T* const taken = reinterpret_cast<T*>(next_);
        next_ += shared_size<T>(n);
        return taken;
    }

private:
    std::byte* next_;
};

}  // namespace rehearse::kernels

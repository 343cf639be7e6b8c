// Element-wise kernels and probes. A block is a stretch of `stretch` elements, or a row where it says so.
#pragma once

#include "kernels/block.hpp"
#include "kernels/pack.hpp"

namespace rehearse::kernels {

constexpr std::int64_t stretch = 4096;

REHEARSE_SCALAR std::int64_t stretch_length(std::int64_t n, std::int64_t index) {
    const std::int64_t rest = n - index * stretch;
    return rest < stretch ? rest : stretch;
}

// Reads and writes each element once: the machine's plain copy.
template <class T>
struct Copy {
    const T* from;
    T* to;
    std::int64_t n;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int64_t first = index * stretch;
        block.template for_each_pack<T>(stretch_length(n, index), [&](auto width, std::int64_t i) {
            copy_pack<decltype(width)::value>(from + first + i, to + first + i);
        });
    }
};

// out = a + factor * b, in fp32: the triad of McCalpin's STREAM; with factor 1 a residual addition.
template <class T>
struct ScaleAdd {
    const T* a;
    const T* b;
    T* out;
    std::int64_t n;
    float factor;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int64_t first = index * stretch;
        block.template for_each_pack<T>(stretch_length(n, index), [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            const Pack<lanes> left = load<lanes>(a + first + i), right = load<lanes>(b + first + i);
            store(out + first + i, left + factor * right);
        });
    }
};

// out = inputs[0] + inputs[1] + ..., in fp32 and in that order.
template <class T>
struct SumBuffers {
    const T* const* inputs;
    T* out;
    std::int64_t n;
    int count;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int64_t first = index * stretch;
        block.template for_each_pack<T>(stretch_length(n, index), [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            Pack<lanes> sum = load<lanes>(inputs[0] + first + i);
            for (int k = 1; k < count; ++k) sum = sum + load<lanes>(inputs[k] + first + i);
            store(out + first + i, sum);
        });
    }
};

}  // namespace rehearse::kernels

// Pack<width>: neighbouring elements as fp32 values that are computed with like one value: +, -, *, /, with packs and
// with floats. Pack<1> is float. With g++ a wider pack is a vector of the compiler's, with nvcc a struct of registers
// whose loads and stores are accesses of 16 bytes where the address allows it.
#pragma once

#include <type_traits>

#include "kernels/element.hpp"
#if !defined(__CUDACC__)
#include "kernels/vectors.hpp"
#endif

namespace rehearse::kernels {

#if defined(__CUDACC__)

template <int width>
struct Lanes {
    float lane[width];

    template <class F>
    __device__ static Lanes of(const F& f) {
        Lanes result;
#pragma unroll
        for (int i = 0; i < width; ++i) result.lane[i] = f(i);
        return result;
    }
};

#define REHEARSE_LANE_OPERATOR(op)                                                            \
    template <int width>                                                                      \
    __device__ Lanes<width> operator op(const Lanes<width>& a, const Lanes<width>& b) {       \
        return Lanes<width>::of([&](int i) { return a.lane[i] op b.lane[i]; });               \
    }                                                                                         \
    template <int width>                                                                      \
    __device__ Lanes<width> operator op(float a, const Lanes<width>& b) {                     \
        return Lanes<width>::of([&](int i) { return a op b.lane[i]; });                       \
    }                                                                                         \
    template <int width>                                                                      \
    __device__ Lanes<width> operator op(const Lanes<width>& a, float b) {                     \
        return Lanes<width>::of([&](int i) { return a.lane[i] op b; });                       \
    }
REHEARSE_LANE_OPERATOR(+)
REHEARSE_LANE_OPERATOR(-)
REHEARSE_LANE_OPERATOR(*)
REHEARSE_LANE_OPERATOR(/)
#undef REHEARSE_LANE_OPERATOR

// As many bytes as one access moves.
template <class T, int width>
struct alignas(sizeof(T) * width < 16 ? sizeof(T) * width : 16) Stored {
    T lane[width];
};

// Rows of odd length begin anywhere: those are read element by element.
template <class T, int width>
__device__ bool is_aligned(const T* at) {
    return width == 1 || reinterpret_cast<std::uintptr_t>(at) % alignof(Stored<T, width>) == 0;
}

template <int width, class T>
__device__ Stored<T, width> read(const T* from) {
    if (is_aligned<T, width>(from)) return *reinterpret_cast<const Stored<T, width>*>(from);
    Stored<T, width> stored;
#pragma unroll
    for (int i = 0; i < width; ++i) stored.lane[i] = from[i];
    return stored;
}

template <int width, class T>
__device__ void write(T* to, const Stored<T, width>& stored) {
    if (is_aligned<T, width>(to)) {
        *reinterpret_cast<Stored<T, width>*>(to) = stored;
        return;
    }
#pragma unroll
    for (int i = 0; i < width; ++i) to[i] = stored.lane[i];
}

template <int width, class T>
__device__ auto load(const T* from) {
    const Stored<T, width> stored = read<width>(from);
    if constexpr (width == 1) return to_float(stored.lane[0]);
    else return Lanes<width>::of([&](int i) { return to_float(stored.lane[i]); });
}

template <class T>
__device__ void store(T* to, float value) {
    *to = from_float<T>(value);
}

template <class T, int width>
__device__ void store(T* to, const Lanes<width>& pack) {
    Stored<T, width> stored;
#pragma unroll
    for (int i = 0; i < width; ++i) stored.lane[i] = from_float<T>(pack.lane[i]);
    write(to, stored);
}

template <int width, class T>
__device__ void copy_pack(const T* from, T* to) {
    write(to, read<width>(from));
}

#else

template <int width>
using Lanes = typename Vectors<width>::Floats;

template <int width, class T>
inline auto load(const T* from) {
    if constexpr (width == 1) {
        return to_float(*from);
    } else if constexpr (std::is_same_v<T, float>) {
        Lanes<width> pack;
        std::memcpy(&pack, from, sizeof pack);
        return pack;
    } else {
        static_assert(std::is_same_v<T, Bf16>);
        typename Vectors<width>::Halves halves;
        std::memcpy(&halves, from, sizeof halves);
        return float_of(widened<width>(halves) << 16);
    }
}

template <class T, class V>
inline void store(T* to, V pack) {
    if constexpr (std::is_same_v<V, float>) {
        *to = from_float<T>(pack);
    } else if constexpr (std::is_same_v<T, float>) {
        std::memcpy(to, &pack, sizeof pack);
    } else {
        static_assert(std::is_same_v<T, Bf16>);
        const auto halves = rounded<static_cast<int>(sizeof(V) / sizeof(float))>(pack);
        std::memcpy(to, &halves, sizeof halves);
    }
}

template <int width, class T>
inline void copy_pack(const T* from, T* to) {
    std::memcpy(to, from, sizeof(T) * width);
}

#endif

template <int width>
struct PackOf {
    using type = Lanes<width>;
};
template <>
struct PackOf<1> {
    using type = float;
};
template <int width>
using Pack = typename PackOf<width>::type;

}  // namespace rehearse::kernels

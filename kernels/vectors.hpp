// The compiler's vector types (GCC's vector extensions, which clang has too): arithmetic on them is element by element,
// for any instruction set. For the CPU paths of pack.hpp and math.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace rehearse::kernels {

template <int width>
struct Vectors;

#define REHEARSE_VECTORS(width)                                                        \
    template <>                                                                        \
    struct Vectors<width> {                                                            \
        typedef float Floats __attribute__((vector_size(width * 4)));                  \
        typedef std::uint32_t Bits __attribute__((vector_size(width * 4)));            \
        typedef std::uint16_t Halves __attribute__((vector_size(width * 2)));          \
    };                                                                                 \
    inline Vectors<width>::Bits bits_of(Vectors<width>::Floats value) {                \
        Vectors<width>::Bits bits;                                                     \
        std::memcpy(&bits, &value, sizeof bits);                                       \
        return bits;                                                                   \
    }                                                                                  \
    inline Vectors<width>::Floats float_of(Vectors<width>::Bits bits) {                \
        Vectors<width>::Floats value;                                                  \
        std::memcpy(&value, &bits, sizeof value);                                      \
        return value;                                                                  \
    }                                                                                  \
    inline Vectors<width>::Bits bf16_bits(Vectors<width>::Floats value) {              \
        const Vectors<width>::Bits bits = bits_of(value);                              \
        const Vectors<width>::Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16; \
        return value == value ? rounded : (bits & 0u) + 0x7fc0u;                       \
    }

REHEARSE_VECTORS(4)
REHEARSE_VECTORS(16)
#undef REHEARSE_VECTORS

// 16-bit integers to 32 bits and back, the low half. g++ 12 takes four instructions where AVX-512 has one.
template <int width>
inline typename Vectors<width>::Bits widened(typename Vectors<width>::Halves halves) {
#if defined(__AVX512BW__)
    if constexpr (width == 16) return (typename Vectors<width>::Bits)_mm512_cvtepu16_epi32((__m256i)halves);
#endif
    return __builtin_convertvector(halves, typename Vectors<width>::Bits);
}

template <int width>
inline typename Vectors<width>::Halves narrowed(typename Vectors<width>::Bits bits) {
#if defined(__AVX512BW__)
    if constexpr (width == 16) return (typename Vectors<width>::Halves)_mm512_cvtepi32_epi16((__m512i)bits);
#endif
    return __builtin_convertvector(bits, typename Vectors<width>::Halves);
}

}  // namespace rehearse::kernels

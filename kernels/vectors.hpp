// The compiler's vector types (GCC's vector extensions, which clang has too): arithmetic on them is element by element,
// for any instruction set. For the CPU paths of pack.hpp and math.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include "kernels/element.hpp"

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
    }

REHEARSE_VECTORS(4)
REHEARSE_VECTORS(16)
#undef REHEARSE_VECTORS

// 16-bit integers as 32-bit ones. g++ 12 takes four instructions where AVX-512 has one.
template <int width>
inline typename Vectors<width>::Bits widened(typename Vectors<width>::Halves halves) {
#if defined(__AVX512BW__)
    if constexpr (width == 16) return (typename Vectors<width>::Bits)_mm512_cvtepu16_epi32((__m256i)halves);
#endif
    return __builtin_convertvector(halves, typename Vectors<width>::Bits);
}

// The nearest bf16, ties to even. The processor's own instruction, where it has one, gives 0 for what bf16 has only as
// subnormals.
template <int width>
inline typename Vectors<width>::Halves rounded(typename Vectors<width>::Floats pack) {
#if defined(__AVX512BF16__)
    if constexpr (width == 16) return (typename Vectors<width>::Halves)_mm512_cvtneps_pbh((__m512)pack);
#endif
    return __builtin_convertvector(bf16_bits(bits_of(pack)), typename Vectors<width>::Halves);
}

}  // namespace rehearse::kernels

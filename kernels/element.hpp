// Element types of the kernels and their conversions. All arithmetic is in fp32; bf16 and fp16 are storage.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/host_device.hpp"

namespace rehearse::kernels {

// The upper half of an IEEE binary32.
struct Bf16 {
    std::uint16_t bits;
};

// IEEE binary16.
struct Fp16 {
    std::uint16_t bits;
};

REHEARSE_SCALAR std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

REHEARSE_SCALAR float float_of(std::uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

REHEARSE_SCALAR float to_float(float value) { return value; }
REHEARSE_SCALAR float to_float(Bf16 value) { return float_of(std::uint32_t{value.bits} << 16); }

// Subnormals become exact by scaling: 2^112 moves the exponent's bias from 15 to 127.
REHEARSE_SCALAR float to_float(Fp16 value) {
    const std::uint32_t magnitude = value.bits & 0x7fffu;
    const std::uint32_t sign = std::uint32_t{value.bits & 0x8000u} << 16;
    if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
    return float_of(sign | bits_of(float_of(magnitude << 13) * 0x1p112f));
}

template <class T>
struct Rounding;

template <>
struct Rounding<float> {
    REHEARSE_SCALAR static float round(float value) { return value; }
};

// The bits of the bf16 nearest to a float of these bits, ties to even; a NaN stays one. Bits is an integer of 32 bits
// or a vector of them.
template <class Bits>
REHEARSE_SCALAR Bits bf16_bits(Bits bits) {
    const Bits zero = bits & 0u;
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (bits & 0x7fffffffu) > zero + 0x7f800000u ? zero + 0x7fc0u : rounded;
}

template <>
struct Rounding<Bf16> {
    REHEARSE_SCALAR static Bf16 round(float value) { return {static_cast<std::uint16_t>(bf16_bits(bits_of(value)))}; }
};

// To nearest, ties to even; beyond 65504 + half a step to infinity. Adding a power of two whose last place is that of
// the result lets the addition do the rounding.
template <>
struct Rounding<Fp16> {
    REHEARSE_SCALAR static Fp16 round(float value) {
        const std::uint32_t bits = bits_of(value);
        const std::uint32_t sign = (bits >> 16) & 0x8000u;
        const std::uint32_t magnitude = bits & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return {static_cast<std::uint16_t>(sign | 0x7e00u)};
        if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
        if (magnitude < 0x38800000u) {  // subnormal: steps of 2^-24, the last place of numbers from 0.5 to 1
            const std::uint32_t steps = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
            return {static_cast<std::uint16_t>(sign | steps)};
        }
        const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
        return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
    }
};

template <class T>
REHEARSE_SCALAR T from_float(float value) {
    return Rounding<T>::round(value);
}

}  // namespace rehearse::kernels

// Scalar functions of the kernel bodies, without branches or library calls, so that a loop over them vectorises and the
// CPU and the GPU compute the same thing.
#pragma once

#include "kernels/element.hpp"

namespace rehearse::kernels {

// e^x to about 2 units in the last place; 0 below -86.64, infinity above 88.72, NaN for NaN. Range reduction by log 2
// in two parts and the polynomial of Cephes' expf (S. L. Moshier, Methods and Programs for Mathematical Functions,
// 1989).
REHEARSE_SCALAR float exponential(float x) {
    constexpr float least = -86.64f, most = 88.72f, round_bias = 12582912.0f;  // 1.5 * 2^23: its last place is 1
    const float inside = x < least ? least : x > most ? most : x;
    const float shifted = inside * 1.44269504f + round_bias;
    const float n = shifted - round_bias;
    const float r = inside - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    // 2^n as twice its half: n is -125 to 128, and the exponent of 128 is that of infinity.
    const std::uint32_t power = bits_of(shifted) - bits_of(round_bias) + 126u;
    const float result = p * float_of(power << 23) * 2.0f;
    return x < least ? 0.0f : x > most ? float_of(0x7f800000u) : result;
}

REHEARSE_SCALAR float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

// An integer that orders as the float does; a NaN orders below everything, -0 as +0.
REHEARSE_SCALAR std::int32_t order_key(float value) {
    const std::int32_t bits = static_cast<std::int32_t>(bits_of(value + 0.0f));
    const std::int32_t key = bits ^ ((bits >> 31) & 0x7fffffff);
    return value == value ? key : -0x7fffffff;
}

REHEARSE_SCALAR float value_of_key(std::int32_t key) {
    return float_of(static_cast<std::uint32_t>(key ^ ((key >> 31) & 0x7fffffff)));
}

}  // namespace rehearse::kernels

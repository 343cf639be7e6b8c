// Functions of the kernel bodies, without branches or library calls: the CPU and the GPU compute the same thing. V is a
// float or a pack.
#pragma once

#include "kernels/pack.hpp"

namespace rehearse::kernels {

// e^x to about 2 units in the last place for x in [-86.64, 88.72]. Range reduction by log 2 in two parts and the
// polynomial of Cephes' expf (S. L. Moshier, Methods and Programs for Mathematical Functions, 1989).
template <class V>
REHEARSE_SCALAR V exponential_inside(V x) {
    const V round_bias = V{} + 12582912.0f;  // 1.5 * 2^23: its last place is 1
    const V shifted = x * 1.44269504f + round_bias;
    const V n = shifted - round_bias;
    const V r = x - n * 0.693359375f + n * 2.12194440e-4f;
    V p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    // 2^n as twice its half: n is -125 to 128, and the exponent of 128 is that of infinity.
    const auto power = bits_of(shifted) - bits_of(round_bias) + 126u;
    return p * float_of(power << 23) * 2.0f;
}

// e^x: 0 below -86.64, infinity above 88.72, NaN for NaN.
template <class V>
REHEARSE_SCALAR V exponential(V x) {
    const V least = V{} - 86.64f, most = V{} + 88.72f, infinity = V{} + float_of(0x7f800000u);
    const V result = exponential_inside(x < least ? least : x > most ? most : x);
    return x < least ? V{} : x > most ? infinity : result;
}

// 1 / (1 + e^-x), 2e-38 at least; NaN for NaN.
template <class V>
REHEARSE_SCALAR V sigmoid(V x) {
    const V least = V{} - 86.0f, most = V{} + 86.0f;
    return 1.0f / (1.0f + exponential_inside(V{} - (x < least ? least : x > most ? most : x)));
}

#if defined(__CUDACC__)
template <int width>
__device__ Lanes<width> exponential(const Lanes<width>& x) {
    return Lanes<width>::of([&](int i) { return exponential(x.lane[i]); });
}
template <int width>
__device__ Lanes<width> sigmoid(const Lanes<width>& x) {
    return Lanes<width>::of([&](int i) { return sigmoid(x.lane[i]); });
}
#endif

// An integer that orders as the float does; a NaN orders below everything, -0 as +0.
REHEARSE_SCALAR std::int32_t order_key(float value) {
    const std::int32_t bits = static_cast<std::int32_t>(bits_of(value + 0.0f));
    const std::int32_t key = bits ^ ((bits >> 31) & 0x7fffffff);
    return value == value ? key : -0x7fffffff;
}

}  // namespace rehearse::kernels

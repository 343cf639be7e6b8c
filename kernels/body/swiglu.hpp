// SwiGLU (Shazeer 2020): a = silu(g) * u with silu(g) = g sigmoid(g). `up` holds g and u side by side in each row.
#pragma once

#include "kernels/block.hpp"
#include "kernels/math.hpp"
#include "kernels/pack.hpp"

namespace rehearse::kernels {

// Block `index` is one row.
template <class T>
struct Swiglu {
    const T* up;   // rows x 2 intermediate
    T* activated;  // rows x intermediate
    std::int64_t intermediate;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const T* const gate = up + index * 2 * intermediate;
        T* const to = activated + index * intermediate;
        block.template for_each_pack<T>(intermediate, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            const Pack<lanes> g = load<lanes>(gate + i), u = load<lanes>(gate + intermediate + i);
            store(to + i, g * sigmoid(g) * u);
        });
    }
};

// Block `index` is one row. With s = sigmoid(g): dg = da u s (1 + g (1 - s)), du = da g s.
template <class T>
struct SwigluBackward {
    const T* d_activated;
    const T* up;
    T* d_up;
    std::int64_t intermediate;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const T* const gate = up + index * 2 * intermediate;
        const T* const gradient = d_activated + index * intermediate;
        T* const to = d_up + index * 2 * intermediate;
        block.template for_each_pack<T>(intermediate, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            const Pack<lanes> da = load<lanes>(gradient + i);
            const Pack<lanes> g = load<lanes>(gate + i), u = load<lanes>(gate + intermediate + i);
            const Pack<lanes> s = sigmoid(g), silu = g * s;
            store(to + i, da * u * (s + silu * (1.0f - s)));
            store(to + intermediate + i, da * silu);
        });
    }
};

}  // namespace rehearse::kernels

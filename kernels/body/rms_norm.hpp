// RMS norm (Zhang, Sennrich 2019): y = x * scale / sqrt(mean(x^2) + epsilon), per row.
#pragma once

#include <cmath>

#include "kernels/block.hpp"
#include "kernels/pack.hpp"

namespace rehearse::kernels {

constexpr float rms_norm_epsilon = 1e-6f;

// Block `index` is one row.
template <class T>
struct RmsNorm {
    const T* x;
    const T* scale;  // hidden
    T* y;
    std::int64_t hidden;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const T* const from = x + index * hidden;
        T* const to = y + index * hidden;
        const float squares = block.template sum<T>(hidden, [&](auto width, std::int64_t i) {
            const auto pack = load<decltype(width)::value>(from + i);
            return pack * pack;
        });
        const float factor = 1.0f / std::sqrt(squares / static_cast<float>(hidden) + rms_norm_epsilon);
        block.template for_each_pack<T>(hidden, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            store(to + i, factor * load<lanes>(scale + i) * load<lanes>(from + i));
        });
    }
};

}  // namespace rehearse::kernels

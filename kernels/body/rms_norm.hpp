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

    std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const T* const from = x + index * hidden;
        T* const to = y + index * hidden;
        const float squares = block.sum(hidden, [&](std::int64_t i) { return to_float(from[i]) * to_float(from[i]); });
        const float factor = 1.0f / std::sqrt(squares / static_cast<float>(hidden) + rms_norm_epsilon);
        block.template for_each_pack<T>(hidden, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            Pack<lanes> pack = load<lanes>(from + i);
            const Pack<lanes> weight = load<lanes>(scale + i);
            for (int lane = 0; lane < lanes; ++lane) pack.lane[lane] *= factor * weight.lane[lane];
            store(to + i, pack);
        });
    }
};

}  // namespace rehearse::kernels

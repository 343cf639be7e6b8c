// Rows moved between the order of tokens and the order of experts, and their backward forms.
#pragma once

#include "kernels/block.hpp"
#include "kernels/pack.hpp"

namespace rehearse::kernels {

// Block `index` is one row: rows[index] = tokens[slot_of_row[index] / top_k].
template <class T>
struct Permute {
    const T* tokens;
    const std::int32_t* slot_of_row;
    T* rows;
    std::int64_t hidden;
    int top_k;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const T* const from = tokens + slot_of_row[index] / top_k * hidden;
        T* const to = rows + index * hidden;
        block.template for_each_pack<T>(
            hidden, [&](auto width, std::int64_t i) { copy_pack<decltype(width)::value>(from + i, to + i); });
    }
};

// Block `index` is one token: tokens[index] = sum over its slots of weight * row, in fp32, in the order of slots.
// Without weights the plain sum, which is the backward form of Permute.
template <class T>
struct Combine {
    const T* rows;
    const std::int32_t* row_of_slot;
    const float* weights;  // tokens x top_k, or null
    T* tokens;
    std::int64_t hidden;
    int top_k;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int32_t* const row = row_of_slot + index * top_k;
        const float* const weight = weights ? weights + index * top_k : nullptr;
        T* const to = tokens + index * hidden;
        block.template for_each_pack<T>(hidden, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            Pack<lanes> sum{};
            for (int k = 0; k < top_k; ++k) {
                const Pack<lanes> part = load<lanes>(rows + row[k] * hidden + i);
                sum = sum + (weight ? weight[k] : 1.0f) * part;
            }
            store(to + i, sum);
        });
    }
};

// Block `index` is one slot: d_rows[row] = weight * d_tokens[token], and d_weight = <d_tokens[token], rows[row]>.
template <class T>
struct CombineBackward {
    const T* d_tokens;
    const T* rows;
    const std::int32_t* row_of_slot;
    const float* weights;
    T* d_rows;
    float* d_weights;
    std::int64_t hidden;
    int top_k;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const T* const gradient = d_tokens + index / top_k * hidden;
        const T* const row = rows + row_of_slot[index] * hidden;
        T* const to = d_rows + row_of_slot[index] * hidden;
        const float weight = weights[index];
        const float product = block.template sum<T>(hidden, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            const Pack<lanes> both = load<lanes>(gradient + i);
            store(to + i, weight * both);
            return both * load<lanes>(row + i);
        });
        block.for_each(1, [&](std::int64_t) { d_weights[index] = product; });
    }
};

}  // namespace rehearse::kernels

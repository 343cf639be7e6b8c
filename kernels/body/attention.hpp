// The part of causal attention between its products: softmax over the keys up to the query, and its gradient.
//
// A tile is `rows` queries of each head against the first `keys` keys, keys = first_query + rows. Scores of head h
// stand at scores + h * rows * keys. Block `index` is one row: head index / rows, query first_query + index % rows.
#pragma once

#include <cmath>

#include "kernels/block.hpp"
#include "kernels/math.hpp"

namespace rehearse::kernels {

struct AttentionTile {
    std::int64_t first_query, rows, sequence;

    REHEARSE_SCALAR std::int64_t keys() const { return first_query + rows; }
    // Where the row's log-sum-exp stands, in heads x sequence.
    REHEARSE_SCALAR std::int64_t place(std::int64_t index) const {
        return index / rows * sequence + first_query + index % rows;
    }
    REHEARSE_SCALAR std::int64_t visible(std::int64_t index) const { return first_query + index % rows + 1; }
};

// P = softmax(scale * scores) over the visible keys, 0 behind them; log_sum = log of the sum of exponentials.
template <class T>
struct CausalSoftmax {
    const float* scores;
    T* probabilities;
    float* log_sum;
    AttentionTile tile;
    float scale;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int64_t visible = tile.visible(index), keys = tile.keys();
        const float* const score = scores + index * keys;
        T* const to = probabilities + index * keys;
        const float most = scale * block.most(visible, score);
        const float sum = block.template sum<float>(visible, [&](auto width, std::int64_t i) {
            return exponential(scale * load<decltype(width)::value>(score + i) - most);
        });
        const float share = 1.0f / sum;
        block.template for_each_pack<T>(visible, [&](auto width, std::int64_t i) {
            store(to + i, share * exponential(scale * load<decltype(width)::value>(score + i) - most));
        });
        block.for_each(keys - visible, [&](std::int64_t i) { to[visible + i] = from_float<T>(0.0f); });
        block.for_each(1, [&](std::int64_t) { log_sum[tile.place(index)] = most + std::log(sum); });
    }
};

// From the scores again: P = exp(scale * scores - log_sum), and dS = scale * P (dP - <dO, O>) with dP = dO V^T.
template <class T>
struct CausalSoftmaxBackward {
    const float* scores;
    const float* d_probabilities;
    const float* log_sum;
    const T* out;    // heads x sequence x head_dim
    const T* d_out;  // the same
    T* probabilities;
    T* d_scores;
    AttentionTile tile;
    std::int64_t head_dim;
    float scale;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        const std::int64_t visible = tile.visible(index), keys = tile.keys(), place = tile.place(index);
        const std::int64_t first = index * keys, row = place * head_dim;
        const float log = log_sum[place];
        const float mean = block.template sum<T>(head_dim, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            return load<lanes>(out + row + i) * load<lanes>(d_out + row + i);
        });
        block.template for_each_pack<T>(visible, [&](auto width, std::int64_t i) {
            constexpr int lanes = decltype(width)::value;
            const Pack<lanes> p = exponential(scale * load<lanes>(scores + first + i) - log);
            store(probabilities + first + i, p);
            store(d_scores + first + i, scale * p * (load<lanes>(d_probabilities + first + i) - mean));
        });
        block.for_each(keys - visible, [&](std::int64_t i) {
            probabilities[first + visible + i] = from_float<T>(0.0f);
            d_scores[first + visible + i] = from_float<T>(0.0f);
        });
    }
};

}  // namespace rehearse::kernels

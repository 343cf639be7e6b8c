// What the feed-forward networks of the experts are made of, on the CPU and on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>

#include "kernels/matrix.hpp"

namespace rehearse::kernels {

// The three products of a linear layer Y = X W: Y = X W (none), dX = dY W^T (right) and dW = X^T dY (left).
enum class Transposed { none, left, right };
enum class Write { replace, accumulate };

// How many rows each expert has, in the order of experts. In host memory.
using RowCounts = std::span<const std::int32_t>;

// One weight matrix per expert, all of one shape, one behind the other.
template <class T>
struct Stacked {
    Stacked(std::span<T> all, std::int64_t count, std::int64_t matrix_rows, std::int64_t matrix_cols)
        : values(all), experts(count), rows(matrix_rows), cols(matrix_cols) {
        REHEARSE_CHECK(count >= 0 && matrix_rows >= 0 && matrix_cols >= 0 &&
                           static_cast<std::int64_t>(all.size()) == count * matrix_rows * matrix_cols,
                       "a stack of " + std::to_string(count) + " matrices of " + std::to_string(matrix_rows) + " x " +
                           std::to_string(matrix_cols) + " over " + std::to_string(all.size()) + " elements");
    }
    // What may be written may be read.
    template <class U>
        requires(std::is_same_v<const U, T>)
    Stacked(const Stacked<U>& other) : Stacked(other.values, other.experts, other.rows, other.cols) {}

    Matrix<T> of(std::int64_t expert) const {
        REHEARSE_CHECK(expert >= 0 && expert < experts,
                       "expert " + std::to_string(expert) + " of " + std::to_string(experts));
        const auto size = static_cast<std::size_t>(rows * cols);
        return {values.subspan(static_cast<std::size_t>(expert) * size, size), rows, cols};
    }

    std::span<T> values;
    std::int64_t experts, rows, cols;
};
template <class T>
using StackedInput = Stacked<const std::type_identity_t<T>>;

// Rows of a tile: experts' rows are multiplied tile by tile, the last tile of an expert being what is left. Partial
// input works on the same tiles, so it does the same arithmetic.
constexpr std::int64_t tile_rows = 256;

struct RowTile {
    std::int64_t expert, first_row, rows;
};

// Calls f(tile) for the tiles of the experts in order; an expert without rows has none. Counts are not negative.
template <class F>
void for_each_tile(RowCounts rows_per_expert, F&& f) {
    std::int64_t first = 0;
    for (std::size_t expert = 0; expert < rows_per_expert.size(); ++expert) {
        const std::int64_t rows = rows_per_expert[expert];
        REHEARSE_CHECK(rows >= 0, "expert " + std::to_string(expert) + " has " + std::to_string(rows) + " rows");
        for (std::int64_t at = 0; at < rows; at += tile_rows) {
            f(RowTile{static_cast<std::int64_t>(expert), first + at, std::min(tile_rows, rows - at)});
        }
        first += rows;
    }
}

// Do the counts add up to `rows`, and is there one per matrix of the stack?
inline void check_rows(RowCounts rows_per_expert, std::int64_t rows, std::int64_t experts) {
    REHEARSE_CHECK(static_cast<std::int64_t>(rows_per_expert.size()) == experts,
                   std::to_string(rows_per_expert.size()) + " row counts for " + std::to_string(experts) + " experts");
    const auto sum = std::accumulate(rows_per_expert.begin(), rows_per_expert.end(), std::int64_t{0});
    REHEARSE_CHECK(sum == rows, "rows per expert add up to " + std::to_string(sum) + " of " + std::to_string(rows));
}

template <class T>
struct ExpertWeights {
    Stacked<const T> up, down;
};
// What the forward form keeps for the backward form.
template <class T>
struct ExpertActivations {
    Matrix<T> up;         // rows x 2 intermediate
    Matrix<T> activated;  // rows x intermediate
};

template <class T>
struct ExpertGradients {
    Matrix<T> activated, up, x;  // of the activations; `activated` and `up` are working memory for the caller's reuse
    Stacked<float> w_up, w_down;
};

}  // namespace rehearse::kernels

// The fixed tiles of rows in which the experts' rows are multiplied.
#pragma once

#include <vector>

#include "kernels/cpu/expert_ffn.hpp"

namespace rehearse::kernels {

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
void check_rows(RowCounts rows_per_expert, std::int64_t rows, std::int64_t experts);

// One tile through up, SwiGLU and down: the only code that computes a row of the experts' output.
template <class T>
void expert_ffn_tile(CpuContext& context, const RowTile& tile, Input<T> x, const ExpertWeights<T>& weights,
                     ExpertActivations<T> kept, Matrix<T> y);

}  // namespace rehearse::kernels

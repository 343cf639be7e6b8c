// The calls that the bf16 products of an expert are made of: what runs them and what predicts their times see the same.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/experts.hpp"

namespace rehearse::kernels {

// To which the rows of a call are padded, and those that a gradient adds up: the steps of a matrix unit.
constexpr std::int32_t row_pad = 16, depth_pad = 32;

inline std::int64_t padded(std::int64_t rows, std::int64_t pad) { return (rows + pad - 1) / pad * pad; }

// Tile by tile, for any number of rows.
inline std::vector<std::int64_t> product_rows(std::int64_t rows) {
    std::vector<std::int64_t> calls(static_cast<std::size_t>(rows / tile_rows), tile_rows);
    if (rows % tile_rows > 0) calls.push_back(padded(rows % tile_rows, row_pad));
    return calls;
}

// Of the gradient of the weights: rows that are padded already are one call, else whole tiles and what is left are two.
inline std::vector<std::int64_t> gradient_rows(std::int64_t rows) {
    if (rows == 0) return {};
    const std::int64_t left = rows % tile_rows, whole = rows - left;
    if (left % depth_pad == 0) return {rows};
    if (whole == 0) return {padded(left, depth_pad)};
    return {whole, padded(left, depth_pad)};
}

}  // namespace rehearse::kernels

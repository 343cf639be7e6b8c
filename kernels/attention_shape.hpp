// Extents of an attention probe.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rehearse::kernels {

struct AttentionShape {
    std::int64_t heads, sequence, head_dim;

    std::int64_t elements() const { return heads * sequence * head_dim; }
};

constexpr std::int64_t attention_tile_rows = 128;

// Calls f(first_query, rows) for the tiles of queries.
template <class F>
void for_each_query_tile(const AttentionShape& shape, F&& f) {
    for (std::int64_t first = 0; first < shape.sequence; first += attention_tile_rows) {
        f(first, std::min(attention_tile_rows, shape.sequence - first));
    }
}

}  // namespace rehearse::kernels

// The experts' feed-forward network on rows that are still arriving, on the CPU.
//
// Rows arrive by fixed tiles, in any order; a tile is multiplied as soon as it is marked. Each tile goes through the
// same code as in expert_ffn (cpu/row_tiles.hpp), so the result is bit for bit that of the full input.
#pragma once

#include <atomic>
#include <vector>

#include "kernels/cpu/row_tiles.hpp"

namespace rehearse::kernels {

// Which tiles of the input are there: a bitmap that any thread may write while one thread reads.
//
// Example: ReadyTiles ready(rows_per_expert);   a receiving thread copies the rows of ready.tile(i), then ready.mark(i)
class ReadyTiles {
public:
    explicit ReadyTiles(RowCounts rows_per_expert);

    std::int64_t tiles() const { return static_cast<std::int64_t>(tiles_.size()); }
    const RowTile& tile(std::int64_t index) const { return tiles_[static_cast<std::size_t>(index)]; }
    std::int64_t rows() const { return rows_; }

    // The tile's rows have been written. Each tile is marked once.
    void mark(std::int64_t index);

    // Blocks until at least `rows` rows are marked; gives how many are.
    std::int64_t wait_for(std::int64_t rows) const;

    // Ready tiles that were not taken before, in the order of numbers.
    void take(std::vector<std::int64_t>& taken);

private:
    std::vector<RowTile> tiles_;
    std::vector<std::atomic<std::uint64_t>> ready_;  // one bit per tile
    std::vector<std::uint64_t> taken_;               // the reader's
    std::atomic<std::int64_t> rows_ready_{0};
    std::int64_t rows_ = 0;
};

// The share of the rows that has to be there before the first tile is multiplied: 1/8, rounded up.
constexpr std::int64_t rows_to_start(std::int64_t rows) { return (rows + 7) / 8; }

// y as expert_ffn gives it. Starts at `start_rows` ready rows, follows the marks, and returns when all rows are done.
template <class T>
void expert_ffn_partial(CpuContext& context, ReadyTiles& ready, std::int64_t start_rows, Input<T> x,
                        const ExpertWeights<T>& weights, ExpertActivations<T> kept, Matrix<T> y);

}  // namespace rehearse::kernels

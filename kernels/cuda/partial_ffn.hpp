// The experts' feed-forward network on a GPU while rows are still arriving. A readiness bitmap in device memory has a
// bit per fixed tile of rows (kernels/experts.hpp). Receiving streams set bits; on the working stream a small kernel
// waits until enough tiles are there, takes them in the order in which they came, and writes the operands' addresses
// for a batched product. The host enqueues all of it and never waits.
//
// Whole tiles go in up to 8 waves of equal size, so the first product starts when an eighth of them is there; the
// shorter last tile of an expert follows, each on its own. A tile's arithmetic does not depend on when it came.
//
// The waiting kernel occupies one multiprocessor's slot: the receiving stream must not be behind it, and its work must
// not need the whole device at once (a cooperative launch). CUDA and cuBLAS load kernels and take workspaces at their
// first use, which waits for the device: do one run with all tiles marked before the first one with tiles outstanding.
#pragma once

#include "kernels/cuda/expert_ffn.hpp"

namespace rehearse::kernels::cuda {

class ReadyTiles {
public:
    // Blocks once, to put the list of tiles into device memory.
    ReadyTiles(CudaContext& context, RowCounts rows_per_expert);

    std::int64_t tiles() const { return static_cast<std::int64_t>(tiles_.size()); }
    std::int64_t whole_tiles() const { return whole_; }
    // Whole tiles come first.
    const RowTile& tile(std::int64_t index) const { return tiles_[static_cast<std::size_t>(index)]; }
    std::int64_t rows() const { return rows_; }

    // In the order of `stream`: the tile's rows, which earlier work of that stream wrote, are there.
    void mark(std::int64_t index, cudaStream_t stream);
    // In the order of `stream`: no tile is there, none was taken.
    void clear(cudaStream_t stream);

    struct DeviceView {
        std::uint32_t* ready;            // one bit per tile
        std::uint32_t* taken;            // the working stream's
        const std::int32_t* first_row;   // of each tile
        const std::int32_t* expert;      // of each tile
        std::int32_t* wave;              // tiles taken last
        std::int64_t whole_tiles;
    };
    DeviceView view() const;

private:
    std::vector<RowTile> tiles_;
    std::int64_t whole_ = 0, rows_ = 0;
    DeviceArray<std::uint32_t> ready_, taken_;
    DeviceArray<std::int32_t> first_row_, expert_, wave_;
};

// Enqueues the whole network; y is complete when the stream gets there, which needs every tile to be marked.
template <class T>
void expert_ffn_partial(CudaContext& context, ReadyTiles& ready, Input<T> x, const ExpertWeights<T>& weights,
                        ExpertActivations<T> kept, Matrix<T> y);

}  // namespace rehearse::kernels::cuda

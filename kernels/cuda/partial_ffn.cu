#include "kernels/cuda/partial_ffn.hpp"

#include "kernels/body/swiglu.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.cuh"

namespace rehearse::kernels::cuda {

namespace {

constexpr int word = 32;
constexpr std::int64_t waves = 8;

__global__ void set_bit(std::uint32_t* bits, std::int64_t index) {
    __threadfence();  // the rows before the bit
    atomicOr(&bits[index / word], 1u << (index % word));
}

__device__ bool is_set(const std::uint32_t* bits, std::int64_t index) {
    const volatile std::uint32_t* const fresh = bits;
    return (fresh[index / word] >> (index % word) & 1u) != 0;
}

__global__ void wait_for_tile(const std::uint32_t* ready, std::int64_t index) {
    while (!is_set(ready, index)) __nanosleep(200);
    __threadfence();
}

// Where a wave's operands begin: the two products of a tile.
template <class T>
struct WaveOperands {
    const T *x, *w_up, *w_down;
    T *up, *activated, *y;
    std::int64_t hidden, intermediate;
    const T** a[2];
    const T** b[2];
    T** c[2];
};

// One thread: takes `count` whole tiles as they come and writes the addresses of their operands.
template <class T>
__global__ void take_wave(const ReadyTiles::DeviceView tiles, std::int64_t count, const WaveOperands<T> at) {
    std::int64_t taken = 0;
    while (taken < count) {
        for (std::int64_t tile = 0; tile < tiles.whole_tiles && taken < count; ++tile) {
            const std::uint32_t bit = 1u << (tile % word);
            if ((tiles.taken[tile / word] & bit) || !is_set(tiles.ready, tile)) continue;
            tiles.taken[tile / word] |= bit;
            const std::int64_t row = tiles.first_row[tile], expert = tiles.expert[tile];
            const std::int64_t weight = expert * at.hidden * at.intermediate;
            tiles.wave[taken] = static_cast<std::int32_t>(tile);
            at.a[0][taken] = at.x + row * at.hidden;
            at.b[0][taken] = at.w_up + 2 * weight;
            at.c[0][taken] = at.up + row * 2 * at.intermediate;
            at.a[1][taken] = at.activated + row * at.intermediate;
            at.b[1][taken] = at.w_down + weight;
            at.c[1][taken] = at.y + row * at.hidden;
            ++taken;
        }
        if (taken < count) __nanosleep(200);
    }
    __threadfence();
}

// Block `index` is a row of the wave.
template <class T>
struct WaveSwiglu {
    const std::int32_t* wave;
    const std::int32_t* first_row;
    Swiglu<T> body;

    REHEARSE_SCALAR std::size_t shared_bytes() const { return 0; }

    template <class Block>
    REHEARSE_BODY void operator()(Block& block, std::int64_t index) const {
        body(block, first_row[wave[index / tile_rows]] + index % tile_rows);
    }
};

std::vector<RowTile> whole_first(RowCounts rows_per_expert) {
    std::vector<RowTile> tiles, shorter;
    for_each_tile(rows_per_expert,
                  [&](const RowTile& tile) { (tile.rows == tile_rows ? tiles : shorter).push_back(tile); });
    tiles.insert(tiles.end(), shorter.begin(), shorter.end());
    return tiles;
}

template <class T>
WaveOperands<T> operands(CudaContext& context, std::int64_t count, Input<T> x, const ExpertWeights<T>& weights,
                         const ExpertActivations<T>& kept, Matrix<T> y) {
    WaveOperands<T> at{x.data(),        weights.up.values.data(), weights.down.values.data(), kept.up.data(),
                       kept.activated.data(), y.data(),           x.cols(),                   kept.activated.cols(),
                       {},              {},                       {}};
    for (int i = 0; i < 2; ++i) {
        const std::string of = i == 0 ? " of up" : " of down";
        at.a[i] = context.scratch<const T*>("wave rows" + of, count);
        at.b[i] = context.scratch<const T*>("wave weights" + of, count);
        at.c[i] = context.scratch<T*>("wave results" + of, count);
    }
    return at;
}

template <class T>
void enqueue_wave(CudaContext& context, const ReadyTiles& ready, std::int64_t count, const WaveOperands<T>& at) {
    const ReadyTiles::DeviceView view = ready.view();
    take_wave<<<1, 1, 0, context.stream()>>>(view, count, at);
    REHEARSE_CUDA(cudaGetLastError());
    gemm_batched(context, count, {tile_rows, 2 * at.intermediate, at.hidden}, at.a[0], at.b[0], at.c[0]);
    launch_blocks(context.stream(), count * tile_rows, 128,
                  WaveSwiglu<T>{view.wave, view.first_row, Swiglu<T>{at.up, at.activated, at.intermediate}});
    gemm_batched(context, count, {tile_rows, at.hidden, at.intermediate}, at.a[1], at.b[1], at.c[1]);
}

template <class T>
void enqueue_tile(CudaContext& context, const RowTile& tile, Input<T> x, const ExpertWeights<T>& weights,
                  const ExpertActivations<T>& kept, Matrix<T> y) {
    const Matrix<T> up = kept.up.slice(tile.first_row, tile.rows);
    const Matrix<T> activated = kept.activated.slice(tile.first_row, tile.rows);
    gemm<T, T>(context, x.slice(tile.first_row, tile.rows), weights.up.of(tile.expert), up);
    swiglu<T>(context, up, activated);
    gemm<T, T>(context, activated, weights.down.of(tile.expert), y.slice(tile.first_row, tile.rows));
}

}  // namespace

ReadyTiles::ReadyTiles(CudaContext& context, RowCounts rows_per_expert)
    : tiles_(whole_first(rows_per_expert)),
      ready_((tiles() + word - 1) / word),
      taken_((tiles() + word - 1) / word),
      first_row_(tiles()),
      expert_(tiles()),
      wave_(tiles()) {
    std::vector<std::int32_t> first_row, expert;
    for (const RowTile& tile : tiles_) {
        first_row.push_back(static_cast<std::int32_t>(tile.first_row));
        expert.push_back(static_cast<std::int32_t>(tile.expert));
        whole_ += tile.rows == tile_rows ? 1 : 0;
        rows_ += tile.rows;
    }
    first_row_.upload(first_row, context.stream());
    expert_.upload(expert, context.stream());
    clear(context.stream());
    context.main_stream().wait_on_host();
}

void ReadyTiles::mark(std::int64_t index, cudaStream_t stream) {
    REHEARSE_CHECK(index >= 0 && index < tiles(), "tile " + std::to_string(index) + " of " + std::to_string(tiles()));
    set_bit<<<1, 1, 0, stream>>>(ready_.data(), index);
    REHEARSE_CUDA(cudaGetLastError());
}

void ReadyTiles::clear(cudaStream_t stream) {
    for (const auto* bits : {&ready_, &taken_}) {
        if (bits->size() > 0) REHEARSE_CUDA(cudaMemsetAsync(bits->data(), 0, bits->span().size_bytes(), stream));
    }
}

ReadyTiles::DeviceView ReadyTiles::view() const {
    return {ready_.data(), taken_.data(), first_row_.data(), expert_.data(), wave_.data(), whole_};
}

template <class T>
void expert_ffn_partial(CudaContext& context, ReadyTiles& ready, Input<T> x, const ExpertWeights<T>& weights,
                        ExpertActivations<T> kept, Matrix<T> y) {
    REHEARSE_CHECK(x.rows() == ready.rows() && y.rows() == ready.rows(), "input and output have the tiles' rows");
    const std::int64_t whole = ready.whole_tiles(), wave = (whole + waves - 1) / waves;
    const WaveOperands<T> at = operands<T>(context, wave, x, weights, kept, y);
    for (std::int64_t done = 0; done < whole; done += wave) {
        enqueue_wave(context, ready, std::min(wave, whole - done), at);
    }
    for (std::int64_t tile = whole; tile < ready.tiles(); ++tile) {
        wait_for_tile<<<1, 1, 0, context.stream()>>>(ready.view().ready, tile);
        REHEARSE_CUDA(cudaGetLastError());
        enqueue_tile<T>(context, ready.tile(tile), x, weights, kept, y);
    }
}

template void expert_ffn_partial(CudaContext&, ReadyTiles&, Input<float>, const ExpertWeights<float>&,
                                 ExpertActivations<float>, Matrix<float>);
template void expert_ffn_partial(CudaContext&, ReadyTiles&, Input<Bf16>, const ExpertWeights<Bf16>&,
                                 ExpertActivations<Bf16>, Matrix<Bf16>);
template void expert_ffn_partial(CudaContext&, ReadyTiles&, Input<Fp16>, const ExpertWeights<Fp16>&,
                                 ExpertActivations<Fp16>, Matrix<Fp16>);

}  // namespace rehearse::kernels::cuda

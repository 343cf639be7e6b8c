#include "kernels/cpu/partial_ffn.hpp"

#include <bit>

namespace rehearse::kernels {

namespace {

constexpr std::int64_t word = 64;

}  // namespace

ReadyTiles::ReadyTiles(RowCounts rows_per_expert) {
    for_each_tile(rows_per_expert, [&](const RowTile& tile) {
        tiles_.push_back(tile);
        rows_ += tile.rows;
    });
    const auto words = static_cast<std::size_t>((tiles() + word - 1) / word);
    ready_ = std::vector<std::atomic<std::uint64_t>>(words);
    taken_.resize(words);
}

void ReadyTiles::mark(std::int64_t index) {
    REHEARSE_CHECK(index >= 0 && index < tiles(), "tile " + std::to_string(index) + " of " + std::to_string(tiles()));
    const std::uint64_t bit = std::uint64_t{1} << (index % word);
    const std::uint64_t before = ready_[static_cast<std::size_t>(index / word)].fetch_or(bit);
    REHEARSE_CHECK(!(before & bit), "tile " + std::to_string(index) + " is marked twice");
    rows_ready_.fetch_add(tile(index).rows);
    rows_ready_.notify_all();
}

std::int64_t ReadyTiles::wait_for(std::int64_t rows) const {
    std::int64_t ready = rows_ready_.load();
    for (; ready < rows; ready = rows_ready_.load()) rows_ready_.wait(ready);
    return ready;
}

void ReadyTiles::take(std::vector<std::int64_t>& taken) {
    taken.clear();
    for (std::size_t i = 0; i < ready_.size(); ++i) {
        std::uint64_t fresh = ready_[i].load() & ~taken_[i];
        taken_[i] |= fresh;
        for (; fresh != 0; fresh &= fresh - 1) {
            taken.push_back(static_cast<std::int64_t>(i) * word + std::countr_zero(fresh));
        }
    }
}

template <class T>
void expert_ffn_partial(CpuContext& context, ReadyTiles& ready, std::int64_t start_rows, Input<T> x,
                        const ExpertWeights<T>& weights, ExpertActivations<T> kept, Matrix<T> y) {
    REHEARSE_CHECK(x.rows() == ready.rows() && y.rows() == ready.rows(), "input and output have the tiles' rows");
    REHEARSE_CHECK(start_rows >= 0 && start_rows <= ready.rows(), "it starts at a part of the rows that will come");
    std::vector<std::int64_t> taken;
    std::int64_t done = 0, awaited = start_rows;
    while (done < ready.rows()) {
        ready.wait_for(awaited);
        ready.take(taken);
        for (const std::int64_t index : taken) {
            expert_ffn_tile<T>(context, ready.tile(index), x, weights, kept, y);
            done += ready.tile(index).rows;
        }
        awaited = done + 1;
    }
}

template void expert_ffn_partial(CpuContext&, ReadyTiles&, std::int64_t, Input<float>, const ExpertWeights<float>&,
                                 ExpertActivations<float>, Matrix<float>);
template void expert_ffn_partial(CpuContext&, ReadyTiles&, std::int64_t, Input<Bf16>, const ExpertWeights<Bf16>&,
                                 ExpertActivations<Bf16>, Matrix<Bf16>);

}  // namespace rehearse::kernels

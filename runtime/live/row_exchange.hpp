// Dispatch and combine: rows of tokens go to the ranks of their experts and come back.
//
// Slots are the places for experts of a group, `slots` on each rank; rank r holds r slots .. (r + 1) slots - 1. A rank
// sends its rows ordered by slot; what it receives is ordered by its own slots, and within a slot by source:
//
//     sent      | slot 0 | slot 1 | ... | slot n slots - 1 |
//     received  | slot r slots: from 0, from 1, .., pad | slot r slots + 1: from 0, from 1, .., pad | ...
//
// The rows of a slot are padded with zeros to a multiple of `pad`: products of them have few shapes, all of whole tiles
// of a matrix unit, and a row of zeros adds nothing to a gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/communicator/communicator.hpp"

namespace rehearse {

class RowExchange {
public:
    RowExchange(Communicator& group, std::uint32_t slots, std::size_t row_bytes, std::int32_t pad);

    // Collective: `counts` rows of this rank go to each slot of the group. Holds until the next plan.
    void plan(std::span<const std::int32_t> counts);
    std::size_t sent_rows() const { return sent_; }
    std::size_t received_rows() const { return received_; }
    std::span<const std::int64_t> heights() const { return heights_; }  // received rows by own slot
    std::span<const std::int32_t> padded() const { return padded_; }    // with the pads
    std::size_t padded_rows() const { return padded_rows_; }
    void clear_pads(std::span<std::byte> received) const;
    std::int32_t rows(std::uint32_t source, std::uint32_t slot) const {  // of the group, from a rank
        return all_[std::size_t{source} * slots_ * ranks_ + slot];
    }

    // Collective. `sent` and `received` hold sent_rows() and padded_rows() rows; pads are cleared.
    void dispatch(std::span<const std::byte> sent, std::span<std::byte> received);
    void combine(std::span<const std::byte> received, std::span<std::byte> sent);

private:
    // The pieces of `sent`, or of `received`, that a peer is concerned with: one of what is sent, one per slot of what
    // is received.
    template <class Pieces, class Memory>
    Pieces sent_pieces(Memory sent) const;
    template <class Pieces, class Memory>
    Pieces received_pieces(Memory received) const;

    Communicator& group_;
    std::uint32_t slots_, ranks_;
    std::size_t row_bytes_;
    std::int32_t pad_;
    std::vector<std::int32_t> all_;      // by source and slot of the group
    std::vector<std::int64_t> heights_;
    std::vector<std::int32_t> padded_;
    std::size_t sent_ = 0, received_ = 0, padded_rows_ = 0;
};

}  // namespace rehearse

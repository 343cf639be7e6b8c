#include "runtime/live/row_exchange.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/checks.hpp"

namespace rehearse {

RowExchange::RowExchange(Communicator& group, std::uint32_t slots, std::size_t row_bytes, std::int32_t pad)
    : group_(group), slots_(slots), ranks_(group.size()), row_bytes_(row_bytes), pad_(pad),
      all_(std::size_t{ranks_} * ranks_ * slots), heights_(slots), padded_(slots) {}

void RowExchange::plan(std::span<const std::int32_t> counts) {
    REHEARSE_CHECK(counts.size() == std::size_t{slots_} * ranks_, "a count for each slot of the group");
    group_.all_gather(std::as_bytes(counts), std::as_writable_bytes(std::span(all_)));
    sent_ = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    received_ = padded_rows_ = 0;
    for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        heights_[slot] = 0;
        for (std::uint32_t source = 0; source < ranks_; ++source)
            heights_[slot] += rows(source, group_.rank() * slots_ + slot);
        padded_[slot] = (static_cast<std::int32_t>(heights_[slot]) + pad_ - 1) / pad_ * pad_;
        received_ += static_cast<std::size_t>(heights_[slot]);
        padded_rows_ += static_cast<std::size_t>(padded_[slot]);
    }
}

template <class Pieces, class Memory>
Pieces RowExchange::sent_pieces(Memory sent) const {
    Pieces pieces(ranks_);
    std::size_t first = 0;
    for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
        std::size_t count = 0;
        for (std::uint32_t slot = 0; slot < slots_; ++slot)
            count += static_cast<std::size_t>(rows(group_.rank(), peer * slots_ + slot));
        pieces[peer].push_back(sent.subspan(first * row_bytes_, count * row_bytes_));
        first += count;
    }
    return pieces;
}

template <class Pieces, class Memory>
Pieces RowExchange::received_pieces(Memory received) const {
    Pieces pieces(ranks_);
    std::size_t first = 0;
    for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
            const auto count = static_cast<std::size_t>(rows(peer, group_.rank() * slots_ + slot));
            pieces[peer].push_back(received.subspan(first * row_bytes_, count * row_bytes_));
            first += count;
        }
        first += static_cast<std::size_t>(padded_[slot] - heights_[slot]);
    }
    return pieces;
}

void RowExchange::clear_pads(std::span<std::byte> received) const {
    std::size_t end = 0;
    for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        end += static_cast<std::size_t>(padded_[slot]) * row_bytes_;
        const std::size_t bytes = static_cast<std::size_t>(padded_[slot] - heights_[slot]) * row_bytes_;
        std::ranges::fill(received.subspan(end - bytes, bytes), std::byte{0});
    }
}

void RowExchange::dispatch(std::span<const std::byte> sent, std::span<std::byte> received) {
    REHEARSE_CHECK(sent.size() == sent_ * row_bytes_ && received.size() == padded_rows_ * row_bytes_,
                   "rows as they were planned");
    group_.all_to_all(sent_pieces<Communicator::Parts>(sent), received_pieces<Communicator::Rooms>(received));
    clear_pads(received);
}

void RowExchange::combine(std::span<const std::byte> received, std::span<std::byte> sent) {
    REHEARSE_CHECK(sent.size() == sent_ * row_bytes_ && received.size() == padded_rows_ * row_bytes_,
                   "rows as they were planned");
    group_.all_to_all(received_pieces<Communicator::Parts>(received), sent_pieces<Communicator::Rooms>(sent));
}

}  // namespace rehearse

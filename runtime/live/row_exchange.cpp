#include "runtime/live/row_exchange.hpp"

#include <numeric>

#include "sim/base/checks.hpp"

namespace rehearse {

RowExchange::RowExchange(Communicator& group, std::uint32_t slots, std::size_t row_bytes)
    : group_(group), slots_(slots), ranks_(group.size()), row_bytes_(row_bytes),
      all_(std::size_t{ranks_} * ranks_ * slots), heights_(slots) {}

void RowExchange::plan(std::span<const std::int32_t> counts) {
    REHEARSE_CHECK(counts.size() == std::size_t{slots_} * ranks_, "a count for each slot of the group");
    group_.all_gather(std::as_bytes(counts), std::as_writable_bytes(std::span(all_)));
    sent_ = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    received_ = 0;
    for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        heights_[slot] = 0;
        for (std::uint32_t source = 0; source < ranks_; ++source)
            heights_[slot] += rows(source, group_.rank() * slots_ + slot);
        received_ += static_cast<std::size_t>(heights_[slot]);
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
    }
    return pieces;
}

void RowExchange::dispatch(std::span<const std::byte> sent, std::span<std::byte> received) {
    REHEARSE_CHECK(sent.size() == sent_ * row_bytes_ && received.size() == received_ * row_bytes_,
                   "rows as they were planned");
    group_.all_to_all(sent_pieces<Communicator::Parts>(sent), received_pieces<Communicator::Rooms>(received));
}

void RowExchange::combine(std::span<const std::byte> received, std::span<std::byte> sent) {
    REHEARSE_CHECK(sent.size() == sent_ * row_bytes_ && received.size() == received_ * row_bytes_,
                   "rows as they were planned");
    group_.all_to_all(received_pieces<Communicator::Parts>(received), sent_pieces<Communicator::Rooms>(sent));
}

}  // namespace rehearse

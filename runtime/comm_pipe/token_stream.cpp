#include "runtime/comm_pipe/token_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

TokenStream::TokenStream(const TokenStreamSpec& spec) : spec_(spec), peers_(spec.peers), open_(spec.peers) {
    FaultList faults;
    if (spec.peers == 0 || spec.rows < spec.peers)
        faults.add({{}, "comm_pipe.rows", fmt::format("a ring of {} rows for {} peers", spec.rows, spec.peers),
                    "at least one row per peer", "enlarge the ring"});
    if (!(spec.threshold > 0 && spec.threshold <= 1))
        faults.add({{}, "comm_pipe.threshold", fmt::format("a threshold of {}", spec.threshold), "more than 0, up to 1",
                    ""});
    faults.throw_if_any();
    reserve_ = std::max(1u, spec.rows / (2 * spec.peers));  // half of the ring is shared
    shared_free_ = spec.rows - reserve_ * spec.peers;
    rows_.resize(spec.rows);
    payload_.resize(std::size_t{spec.rows} * spec.row_bytes);
}

std::uint32_t TokenStream::grantable(const Peer& peer) const {
    return (peer.held < reserve_ ? reserve_ - peer.held : 0) + shared_free_;
}

std::uint32_t TokenStream::grant(std::uint32_t index, std::uint32_t wanted) {
    Peer& peer = peers_.at(index);
    REHEARSE_CHECK(!peer.is_closed, "a peer that has closed asks for credits");
    const std::uint32_t given = std::min(wanted, grantable(peer));
    const std::uint32_t own = std::min(given, peer.held < reserve_ ? reserve_ - peer.held : 0);
    shared_free_ -= given - own;
    peer.held += given;
    peer.credits += given;
    return given;
}

void TokenStream::deliver(std::uint32_t index, std::span<const TokenRow> rows, std::span<const std::byte> payload) {
    Peer& peer = peers_.at(index);
    REHEARSE_CHECK(rows.size() <= peer.credits, fmt::format("peer {} sends {} rows with {} credits", index,
                                                            rows.size(), peer.credits));
    REHEARSE_CHECK(payload.size() == rows.size() * spec_.row_bytes, "a payload of whole rows");
    peer.credits -= static_cast<std::uint32_t>(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        REHEARSE_CHECK(rows[i].expert < spec_.experts && rows[i].peer == index,
                       "a row of this peer for an expert here");
        const std::size_t slot = arrived_++ % spec_.rows;
        rows_[slot] = rows[i];
        std::ranges::copy(payload.subspan(i * spec_.row_bytes, spec_.row_bytes),
                          payload_.begin() + static_cast<std::ptrdiff_t>(slot * spec_.row_bytes));
    }
}

void TokenStream::close(std::uint32_t index) {
    Peer& peer = peers_.at(index);
    REHEARSE_CHECK(!peer.is_closed && peer.credits == 0, "a peer closes once, with its credits used");
    peer.is_closed = true;
    --open_;
}

// Some peer that is still sending has no credits and can get none.
bool TokenStream::is_stuck() const {
    return std::ranges::any_of(peers_, [&](const Peer& peer) {
        return !peer.is_closed && peer.credits == 0 && grantable(peer) == 0;
    });
}

std::optional<TokenChunk> TokenStream::take() {
    const std::uint64_t waiting = arrived_ - taken_;
    const bool enough = static_cast<double>(waiting) >= spec_.threshold * spec_.rows;
    if (waiting == 0 || (!enough && open_ > 0 && !is_stuck())) return std::nullopt;
    TokenChunk chunk;
    chunk.first = taken_;
    chunk.count = waiting;
    chunk.slots.resize(waiting);
    chunk.expert_first.assign(spec_.experts + 1, 0);
    const auto slot_of = [&](std::uint64_t i) { return static_cast<std::uint32_t>((taken_ + i) % spec_.rows); };
    for (std::uint64_t i = 0; i < waiting; ++i) ++chunk.expert_first[rows_[slot_of(i)].expert + 1];
    std::partial_sum(chunk.expert_first.begin(), chunk.expert_first.end(), chunk.expert_first.begin());
    std::vector<std::uint32_t> next = chunk.expert_first;
    for (std::uint64_t i = 0; i < waiting; ++i) chunk.slots[next[rows_[slot_of(i)].expert]++] = slot_of(i);
    taken_ = arrived_;
    return chunk;
}

void TokenStream::release(const TokenChunk& chunk) {
    REHEARSE_CHECK(chunk.first == released_, "chunks are released in the order in which they were taken");
    released_ += chunk.count;
    for (const std::uint32_t slot : chunk.slots) {
        Peer& peer = peers_[rows_[slot].peer];
        if (peer.held > reserve_) ++shared_free_;
        --peer.held;
    }
}

bool TokenStream::is_drained() const { return open_ == 0 && released_ == arrived_; }

void TokenStream::reopen() {
    REHEARSE_CHECK(is_drained(), "the next dispatch begins when this one is over");
    for (Peer& peer : peers_) peer.is_closed = false;
    open_ = spec_.peers;
}

}  // namespace rehearse

// The receiving end of a dispatch: a ring of whole token rows that an expert can start on before all of them are there.
//
//     peers --credits--> [ . . rows in order of arrival . . ] --chunk--> rows grouped by expert --release--> credits
//
// A peer sends only what it has credits for: one credit is one row of the ring. Every peer keeps a reserve of its own
// that no other can take, and a chunk is consumed without sending anything, so that a dispatch ends under any order of
// arrival, also when all peers send to one GPU. A chunk is handed out when the rows that wait reach the threshold, when
// no peer can get another credit, and for the rest when every peer has closed. Rows carry the full hidden size, so that
// every row of a chunk can be multiplied at once.
//
// With a ring that holds the q-th part of a dispatch, the first chunk waits for threshold / q of the transfer; the rest
// of it can hide behind compute: 1 - 0.6 / q.
//
// One owner: calls are not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rehearse {

struct TokenStreamSpec {
    std::uint32_t rows = 0;       // of the ring
    std::uint32_t row_bytes = 0;  // hidden size x bytes per element
    std::uint32_t peers = 1;
    std::uint32_t experts = 1;    // of this GPU
    double threshold = 0.6;       // of the ring
};

struct TokenRow {
    std::uint32_t expert = 0, peer = 0, token = 0;  // token: the peer's own number, to send the result back by
};

// Rows that wait to be computed, grouped by expert and in order of arrival in each group.
struct TokenChunk {
    std::uint64_t first = 0, count = 0;      // in order of arrival, counted through the dispatch
    std::vector<std::uint32_t> slots;        // ring rows in grouped order
    std::vector<std::uint32_t> expert_first; // experts + 1 places in `slots`
};

class TokenStream {
public:
    // Throws InputError (path: comm_pipe) when the ring has fewer rows than peers, or the threshold isn't in (0, 1].
    explicit TokenStream(const TokenStreamSpec& spec);

    // Credits for up to `wanted` rows; fewer, or none, under back-pressure.
    std::uint32_t grant(std::uint32_t peer, std::uint32_t wanted);
    // Rows that the peer has credits for. `payload`: row_bytes per row.
    void deliver(std::uint32_t peer, std::span<const TokenRow> rows, std::span<const std::byte> payload);
    void close(std::uint32_t peer);  // it has sent everything of this dispatch

    std::optional<TokenChunk> take();
    void release(const TokenChunk& chunk);  // in the order in which they were taken

    const TokenRow& row(std::uint32_t slot) const { return rows_[slot]; }
    std::span<const std::byte> payload(std::uint32_t slot) const {
        return {payload_.data() + std::size_t{slot} * spec_.row_bytes, spec_.row_bytes};
    }
    bool is_drained() const;  // every peer has closed, and all rows are taken and released
    std::uint64_t received() const { return arrived_; }
    void reopen();            // for the next dispatch; only when drained

private:
    struct Peer {
        std::uint32_t credits = 0;  // granted and not yet used
        std::uint32_t held = 0;     // rows of the ring: credits, and rows not yet released
        bool is_closed = false;
    };
    std::uint32_t grantable(const Peer& peer) const;
    bool is_stuck() const;

    TokenStreamSpec spec_;
    std::uint32_t reserve_ = 0, shared_free_ = 0;
    std::vector<Peer> peers_;
    std::vector<TokenRow> rows_;
    std::vector<std::byte> payload_;
    std::uint64_t arrived_ = 0, taken_ = 0, released_ = 0;
    std::uint32_t open_ = 0;  // peers that have not closed
};

}  // namespace rehearse

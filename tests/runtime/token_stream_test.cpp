#include "runtime/comm_pipe/token_stream.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {
namespace {

constexpr std::uint32_t row_bytes = 8;

// The payload of a row says whose it is.
std::vector<std::byte> payload_of(const std::vector<TokenRow>& rows) {
    std::vector<std::byte> bytes(rows.size() * row_bytes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint32_t mark[2] = {rows[i].peer, rows[i].token};
        std::memcpy(&bytes[i * row_bytes], mark, row_bytes);
    }
    return bytes;
}

using Seen = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;  // (peer, token) -> times computed

void consume(TokenStream& stream, const TokenChunk& chunk, Seen& seen) {
    for (std::uint32_t expert = 0; expert + 1 < chunk.expert_first.size(); ++expert)
        for (std::uint32_t i = chunk.expert_first[expert]; i < chunk.expert_first[expert + 1]; ++i) {
            const TokenRow& row = stream.row(chunk.slots[i]);
            std::uint32_t mark[2];
            std::memcpy(mark, stream.payload(chunk.slots[i]).data(), row_bytes);
            EXPECT_EQ(row.expert, expert);
            EXPECT_EQ(mark[0], row.peer);
            EXPECT_EQ(mark[1], row.token);
            ++seen[{row.peer, row.token}];
        }
}

// Any sizes, any order of peers and of consumption, several dispatches: every token is computed once, and the dispatch
// ends though the consumer only acts on chunks that it is given.
TEST(TokenStream, ConservesTokensUnderAnyOrder) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        std::uint64_t state = seed;
        const auto draw = [&](std::uint64_t n) { return static_cast<std::uint32_t>(splitmix64(state) % n); };
        const std::uint32_t peers = 1 + draw(8), rows = peers + draw(40), experts = 1 + draw(5);
        TokenStream stream({rows, row_bytes, peers, experts, 0.1 + 0.1 * draw(10)});
        for (int dispatch = 0; dispatch < 3; ++dispatch) {
            std::vector<std::uint32_t> left(peers), token(peers, 0), closed(peers, 0);
            std::uint64_t total = 0;
            for (std::uint32_t& count : left) total += count = draw(200);
            Seen seen;
            std::vector<TokenChunk> taken;
            for (std::uint64_t turn = 0; !stream.is_drained(); ++turn) {
                ASSERT_LT(turn, 200'000U) << "no progress, seed " << seed;
                const std::uint32_t peer = draw(peers);
                if (closed[peer] == 0) {
                    const std::uint32_t given = stream.grant(peer, std::min(left[peer], 1 + draw(30)));
                    std::vector<TokenRow> sent;
                    for (std::uint32_t i = 0; i < given; ++i) sent.push_back({draw(experts), peer, token[peer]++});
                    stream.deliver(peer, sent, payload_of(sent));
                    left[peer] -= given;
                    if (left[peer] == 0) stream.close(peer), closed[peer] = 1;
                }
                if (auto chunk = stream.take()) {
                    consume(stream, *chunk, seen);
                    taken.push_back(std::move(*chunk));
                }
                if (!taken.empty() && draw(3) == 0) {
                    stream.release(taken.front());
                    taken.erase(taken.begin());
                }
            }
            EXPECT_EQ(seen.size(), total);
            for (const auto& [key, times] : seen) EXPECT_EQ(times, 1);
            stream.reopen();
        }
    }
}

// A transfer at a steady rate, compute that keeps up: the first chunk waits for 60 % of a ring, the q-th part of the
// dispatch. What was exposed is 0.6 / q of the transfer.
TEST(TokenStream, HidesAllButTheFirstThreshold) {
    for (const std::uint32_t q : {1u, 2u, 4u, 6u}) {
        const std::uint32_t total = 1'200;
        TokenStream stream({total / q, row_bytes, 1, 1, 0.6});
        std::uint32_t first_chunk_at = 0;
        for (std::uint32_t t = 0; t < total; ++t) {
            ASSERT_EQ(stream.grant(0, 1), 1U);
            const std::vector<TokenRow> row{{0, 0, t}};
            stream.deliver(0, row, payload_of(row));
            if (auto chunk = stream.take()) {
                if (first_chunk_at == 0) first_chunk_at = t + 1;
                stream.release(*chunk);
            }
        }
        EXPECT_NEAR(first_chunk_at / static_cast<double>(total), 0.6 / q, 1e-3) << q;
    }
}

// One peer that fills all it can get leaves the others their reserve.
TEST(TokenStream, AFastPeerCannotTakeTheReserveOfOthers) {
    TokenStream stream({64, row_bytes, 4, 1, 1.0});
    EXPECT_EQ(stream.grant(0, 1'000), 8U + 32U);
    EXPECT_EQ(stream.grant(0, 1), 0U);
    for (const std::uint32_t peer : {1u, 2u, 3u}) EXPECT_EQ(stream.grant(peer, 1'000), 8U) << peer;
}

TEST(TokenStream, RefusesWhatCannotWork) {
    EXPECT_THROW(TokenStream({3, row_bytes, 4, 1, 0.6}), InputError);
    EXPECT_THROW(TokenStream({8, row_bytes, 4, 1, 0.0}), InputError);
    TokenStream stream({8, row_bytes, 2, 1, 0.6});
    const std::vector<TokenRow> row{{0, 0, 0}};
    EXPECT_THROW(stream.deliver(0, row, payload_of(row)), InvariantBroken);  // without a credit
}

}  // namespace
}  // namespace rehearse

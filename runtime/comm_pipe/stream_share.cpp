#include "runtime/comm_pipe/stream_share.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "runtime/comm_pipe/token_stream.hpp"

namespace rehearse {

double first_share(const StreamShape& shape, std::span<const std::uint32_t> rows_of_peer) {
    const auto total = std::accumulate(rows_of_peer.begin(), rows_of_peer.end(), std::uint64_t{0});
    if (total == 0) return 1;
    TokenStreamSpec spec;
    const auto refills = static_cast<std::uint64_t>(shape.refills);
    spec.rows = static_cast<std::uint32_t>((total + refills - 1) / refills);
    spec.row_bytes = 1;  // what a row holds plays no part
    spec.peers = static_cast<std::uint32_t>(rows_of_peer.size());
    spec.rows = std::max(spec.rows, spec.peers);
    spec.threshold = shape.threshold;
    TokenStream stream(spec);
    std::vector<std::uint32_t> left(rows_of_peer.begin(), rows_of_peer.end());
    const std::vector<std::byte> payload(1);
    for (std::uint32_t peer = 0; peer < spec.peers; ++peer) {
        if (left[peer] == 0) stream.close(peer);
    }
    std::optional<TokenChunk> first;
    for (std::uint32_t peer = 0; !(first = stream.take()); peer = (peer + 1) % spec.peers) {
        if (left[peer] == 0 || stream.grant(peer, 1) == 0) continue;
        const TokenRow row{0, peer, left[peer]};
        stream.deliver(peer, {&row, 1}, payload);
        if (--left[peer] == 0) stream.close(peer);
    }
    return static_cast<double>(first->count) / static_cast<double>(total);
}

}  // namespace rehearse

// Parts of an all-to-all: memory in pieces.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace rehearse {

template <class Piece>
std::size_t pieces_size(const std::vector<Piece>& pieces) {
    std::size_t total = 0;
    for (const Piece& piece : pieces) total += piece.size();
    return total;
}

// From one cut of the same bytes to another. False, and nothing copied, when they hold different numbers.
inline bool copy_pieces(const std::vector<std::span<const std::byte>>& from,
                        const std::vector<std::span<std::byte>>& to) {
    if (pieces_size(from) != pieces_size(to)) return false;
    std::size_t source = 0, offset = 0;  // the next byte to copy
    for (std::span<std::byte> room : to) {
        while (!room.empty()) {
            while (offset == from[source].size()) {
                ++source;
                offset = 0;
            }
            const std::size_t count = std::min(room.size(), from[source].size() - offset);
            std::memcpy(room.data(), from[source].data() + offset, count);
            room = room.subspan(count);
            offset += count;
        }
    }
    return true;
}

}  // namespace rehearse

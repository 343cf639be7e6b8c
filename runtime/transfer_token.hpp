// Tokens handed to the network and back: a message is its index in the pool, a group collective its family, group and
// sequence below the topmost bit: 1 | family (7 bits) | group (32) | sequence (24).
#pragma once

#include <cstdint>

#include "models/workload/layout.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

struct CollectiveToken {
    GroupFamily family = GroupFamily::data;
    std::uint32_t group = 0;
    std::uint32_t sequence = 0;  // below 2^24

    static constexpr std::uint64_t bit = std::uint64_t{1} << 63;
    static bool is(std::uint64_t token) { return (token & bit) != 0; }

    std::uint64_t pack() const {
        REHEARSE_CHECK(sequence < (1u << 24), "a group posts more than 2^24 collectives in a step");
        return bit | std::uint64_t{static_cast<std::uint8_t>(family)} << 56 | std::uint64_t{group} << 24 | sequence;
    }
    static CollectiveToken unpack(std::uint64_t token) {
        return {static_cast<GroupFamily>(token >> 56 & 0x7f), static_cast<std::uint32_t>(token >> 24 & UINT32_MAX),
                static_cast<std::uint32_t>(token & 0xffffff)};
    }
};

}  // namespace rehearse

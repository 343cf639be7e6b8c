// Which part of a dispatch arrives before the first row is worked on: a dispatch run through the token stream itself,
// its peers sending in turn, as many rows as they have credits for.
#pragma once

#include <cstdint>
#include <span>

namespace rehearse {

struct StreamShape {
    std::int64_t refills = 1;   // the ring holds rows / refills
    double threshold = 0.6;     // of the ring
};

// `rows_of_peer`: rows that each peer has for this GPU. 1 when nothing is sent. Throws InputError as TokenStream does.
double first_share(const StreamShape& shape, std::span<const std::uint32_t> rows_of_peer);

}  // namespace rehearse

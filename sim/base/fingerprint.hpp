// A 64-bit hash of a sequence of words: equal sequences give equal values on every machine, and order counts.
//
// Each word is mixed in by xor, multiply and rotate; value() finishes with the avalanche of MurmurHash3 (Appleby) so
// that one changed bit changes about half of the result. It guards against accidents, not against an adversary.
// Example: Fingerprint f; f.add(time); f.add(id); f.value().
#pragma once

#include <cstdint>
#include <string_view>

namespace rehearse {

class Fingerprint {
public:
    constexpr void add(std::uint64_t word) {
        constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
        const std::uint64_t mixed = (state_ ^ word) * odd;
        state_ = ((mixed << 29) | (mixed >> 35)) + odd;  // the sum keeps a run of zeros from being absorbed
    }
    constexpr void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
    // The length goes in first, so that ("ab", "c") and ("a", "bc") differ.
    constexpr void add(std::string_view text) {
        add(static_cast<std::uint64_t>(text.size()));
        std::uint64_t word = 0;
        int filled = 0;
        for (const char c : text) {
            word |= std::uint64_t{static_cast<unsigned char>(c)} << (8 * filled);
            if (++filled < 8) continue;
            add(word);
            word = 0;
            filled = 0;
        }
        if (filled > 0) add(word);
    }
    constexpr std::uint64_t value() const {
        std::uint64_t z = state_;
        z = (z ^ (z >> 33)) * 0xff51afd7ed558ccd;
        z = (z ^ (z >> 33)) * 0xc4ceb9fe1a85ec53;
        return z ^ (z >> 33);
    }

private:
    std::uint64_t state_ = 0;
};

}  // namespace rehearse

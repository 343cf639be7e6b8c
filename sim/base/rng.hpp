// Counter-based randomness: a draw is a pure function of (seed, stream name, entity id, counter), so it does not depend
// on the order of events, threads or processes. The bits come from Philox4x32-10 (Salmon et al., SC'11; Random123).
// Distributions are written here because those of the standard library differ between implementations.
//
// Example: Stream jitter(seed, "compute.jitter"); double u = jitter.uniform(rank, instruction);
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rehearse {

std::uint64_t hash_name(std::string_view name);  // FNV-1a, 64 bits
std::uint64_t splitmix64(std::uint64_t& state);  // advances state; Steele, Lea, Flood (OOPSLA'14)

class Stream {
public:
    Stream(std::uint64_t seed, std::string_view name);

    // 128 random bits for (entity, counter).
    std::array<std::uint32_t, 4> bits(std::uint64_t entity, std::uint64_t counter) const;
    // Uniform in [0, 1) with 53 bits.
    double uniform(std::uint64_t entity, std::uint64_t counter) const;
    // Standard normal (Box-Muller).
    double normal(std::uint64_t entity, std::uint64_t counter) const;
    // Exponential with mean 1.
    double exponential(std::uint64_t entity, std::uint64_t counter) const;

private:
    std::uint64_t key_;
};

}  // namespace rehearse

#include "sim/base/rng.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace rehearse {

std::uint64_t hash_name(std::string_view name) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

std::uint64_t splitmix64(std::uint64_t& state) {
    state += 0x9E3779B97F4A7C15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

Stream::Stream(std::uint64_t seed, std::string_view name) {
    std::uint64_t state = seed ^ hash_name(name);
    key_ = splitmix64(state);
}

std::array<std::uint32_t, 4> Stream::bits(std::uint64_t entity, std::uint64_t counter) const {
    const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(key_), static_cast<std::uint32_t>(key_ >> 32)}};
    const r123::Philox4x32::ctr_type at{{static_cast<std::uint32_t>(entity), static_cast<std::uint32_t>(entity >> 32),
                                         static_cast<std::uint32_t>(counter),
                                         static_cast<std::uint32_t>(counter >> 32)}};
    const auto out = r123::Philox4x32{}(at, key);
    return {out[0], out[1], out[2], out[3]};
}

namespace {
double to_unit(std::uint32_t high, std::uint32_t low) {
    return static_cast<double>(((std::uint64_t{high} << 32) | low) >> 11) * 0x1.0p-53;
}
}  // namespace

double Stream::uniform(std::uint64_t entity, std::uint64_t counter) const {
    const auto b = bits(entity, counter);
    return to_unit(b[0], b[1]);
}

double Stream::normal(std::uint64_t entity, std::uint64_t counter) const {
    const auto b = bits(entity, counter);
    const double radius = std::sqrt(-2.0 * std::log1p(-to_unit(b[0], b[1])));
    return radius * std::cos(2.0 * std::numbers::pi * to_unit(b[2], b[3]));
}

double Stream::exponential(std::uint64_t entity, std::uint64_t counter) const {
    return -std::log1p(-uniform(entity, counter));
}

}  // namespace rehearse

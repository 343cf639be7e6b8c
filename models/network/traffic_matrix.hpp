// Traffic matrices of network studies, the same from any language: who sends how much to whom.
//
// splitmix64: Steele, Lea, Flood (OOPSLA'14). Sattolo's cycle: p = 0 .. n-1; for i = n-1 down to 1: j = next mod i,
// swap p[i] and p[j]; flow i goes i -> p[i], so nobody sends to himself. Example: permutation(128, 1)[0] == 41.
#pragma once

#include <cstdint>
#include <vector>

namespace rehearse {

struct TrafficPair {
    std::uint32_t source, destination;
};

std::vector<std::uint32_t> permutation(std::uint32_t members, std::uint64_t seed);
// Members 1 .. senders each to member 0.
std::vector<TrafficPair> incast(std::uint32_t senders);
// Groups of `group` members with stride members / group: each to every other one of its group, member by member, next
// neighbour first. InvariantBroken when `group` does not divide `members`.
std::vector<TrafficPair> all_to_all(std::uint32_t members, std::uint32_t group);

}  // namespace rehearse

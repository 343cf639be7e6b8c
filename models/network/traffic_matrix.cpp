#include "models/network/traffic_matrix.hpp"

#include <numeric>
#include <utility>

#include "sim/base/checks.hpp"
#include "sim/base/rng.hpp"

namespace rehearse {

std::vector<std::uint32_t> permutation(std::uint32_t members, std::uint64_t seed) {
    std::vector<std::uint32_t> to(members);
    std::iota(to.begin(), to.end(), 0U);
    for (std::uint32_t i = members; i-- > 1;) std::swap(to[i], to[splitmix64(seed) % i]);
    return to;
}

std::vector<TrafficPair> incast(std::uint32_t senders) {
    std::vector<TrafficPair> pairs;
    for (std::uint32_t i = 1; i <= senders; ++i) pairs.push_back({i, 0});
    return pairs;
}

std::vector<TrafficPair> all_to_all(std::uint32_t members, std::uint32_t group) {
    REHEARSE_CHECK(group > 0 && members % group == 0, "the groups do not divide the members");
    const std::uint32_t stride = members / group;
    std::vector<TrafficPair> pairs;
    for (std::uint32_t g = 0; g < stride; ++g) {
        for (std::uint32_t i = 0; i < group; ++i) {
            for (std::uint32_t d = 1; d < group; ++d) pairs.push_back({g + i * stride, g + (i + d) % group * stride});
        }
    }
    return pairs;
}

}  // namespace rehearse

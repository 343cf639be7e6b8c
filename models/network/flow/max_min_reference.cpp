#include "models/network/flow/max_min_reference.hpp"

#include <algorithm>
#include <cstddef>

namespace rehearse {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tie = 1e-12;  // relative: shares this close stop together

struct Filling {
    std::vector<double> left;    // capacity not yet given to stopped flows
    std::vector<double> weight;  // of the flows that still grow
    std::vector<int> growing;    // how many they are
};

Filling count_growing(std::span<const double> capacities, std::span<const ReferenceFlow> flows,
                      const std::vector<double>& rates) {
    Filling filling{{capacities.begin(), capacities.end()},
                    std::vector<double>(capacities.size(), 0.0),
                    std::vector<int>(capacities.size(), 0)};
    for (std::size_t f = 0; f < flows.size(); ++f) {
        for (const WeightedLink& use : flows[f].links) {
            if (rates[f] >= 0) {
                filling.left[use.link.value] -= use.weight * rates[f];
            } else {
                filling.weight[use.link.value] += use.weight;
                ++filling.growing[use.link.value];
            }
        }
    }
    return filling;
}

double share(const Filling& filling, std::uint32_t link) {
    if (filling.growing[link] == 0) return infinity;
    return std::max(0.0, filling.left[link]) / filling.weight[link];
}

}  // namespace

std::vector<double> max_min_reference(std::span<const double> capacities, std::span<const ReferenceFlow> flows) {
    std::vector<double> rates(flows.size(), -1.0);  // negative: still growing
    for (std::size_t stopped = 0; stopped < flows.size();) {
        const Filling filling = count_growing(capacities, flows, rates);
        const auto limit = [&](const ReferenceFlow& flow) {
            double lowest = flow.cap;
            for (const WeightedLink& use : flow.links) lowest = std::min(lowest, share(filling, use.link.value));
            return lowest;
        };
        double level = infinity;
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (rates[f] < 0) level = std::min(level, limit(flows[f]));
        }
        for (std::size_t f = 0; f < flows.size(); ++f) {
            if (rates[f] < 0 && limit(flows[f]) <= level * (1 + tie)) {
                rates[f] = level;
                ++stopped;
            }
        }
    }
    return rates;
}

}  // namespace rehearse

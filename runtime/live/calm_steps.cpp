#include "runtime/live/calm_steps.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "sim/base/quantile.hpp"

namespace rehearse {

namespace {

// By rank, then by step.
std::vector<Pace> gathered(Communicator& world, const std::vector<Pace>& mine) {
    std::vector<Pace> all(mine.size() * world.size());
    world.all_gather(std::as_bytes(std::span<const Pace>(mine)), std::as_writable_bytes(std::span(all)));
    return all;
}

}  // namespace

std::vector<std::size_t> calmest_steps(Communicator& world, const std::vector<Pace>& mine, std::size_t count) {
    const std::vector<Pace> all = gathered(world, mine);
    std::vector<double> slowest(mine.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        slowest[i % mine.size()] = std::max(slowest[i % mine.size()], all[i].compute);
    std::vector<std::size_t> order(std::max<std::size_t>(1, mine.size() - 1));
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto both = [&](std::size_t step) {
        return std::max(slowest[step], slowest[std::min(step + 1, mine.size() - 1)]);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return both(a) < both(b); });
    order.resize(std::min(order.size(), count));
    std::sort(order.begin(), order.end());
    return order;
}

Pace pace_of(Communicator& world, const std::vector<Pace>& mine, const std::vector<std::size_t>& steps) {
    std::vector<double> compute, memory;
    for (const std::size_t step : steps) {
        compute.push_back(mine[step].compute);
        memory.push_back(mine[step].memory);
    }
    Pace mean;
    for (const Pace& one : gathered(world, {{median(compute), median(memory)}})) {
        mean.compute += one.compute / static_cast<double>(world.size());
        mean.memory += one.memory / static_cast<double>(world.size());
    }
    return mean;
}

bool is_calm(const LiveSpec& spec, const Pace& pace, const std::vector<double>& step_seconds,
             const std::vector<std::size_t>& steps) {
    if (spec.calm_pace > 0 && pace.compute > calm_pace_margin * spec.calm_pace) return false;
    std::vector<double> kept;
    for (const std::size_t step : steps) kept.push_back(step_seconds[step]);
    return relative_spread(std::move(kept)) <= calm_spread;
}

}  // namespace rehearse

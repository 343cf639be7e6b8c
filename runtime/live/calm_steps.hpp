// Which steps of a live run count. On a shared processor a core's rate changes by a factor of two and more while its
// neighbour works, for milliseconds or for minutes. Steps are chosen by the probes at their two ends, never by their
// own time; their own times only say whether to go on looking.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/communicator/communicator.hpp"
#include "runtime/live/pace.hpp"

namespace rehearse {

struct LiveSpec {
    std::int64_t warmup_steps = 3;
    std::int64_t steps = 20;      // that count
    std::int64_t oversample = 5;  // so many times as many are run at a time ...
    double patience = 0;          // s: ... and again, for so long, until those that count are calm
    double calm_pace = 0;         // s: of the compute probe on a calm machine, as far as is known; 0: unknown
    std::uint64_t seed = 1;
};

// The machine is calm where the steps that count lie this close together, and the probe was this fast.
inline constexpr double calm_spread = 0.08;       // relative_spread()
inline constexpr double calm_pace_margin = 1.25;  // of the pace of a calm machine

// Collective. The `count` steps in whose beginning and end the slowest rank was fastest, in the order of time; the
// last step has no end and is chosen only where it is alone. `mine`: this rank's pace, by step.
std::vector<std::size_t> calmest_steps(Communicator& world, const std::vector<Pace>& mine, std::size_t count);

// Collective. Median over these steps, mean over the ranks.
Pace pace_of(Communicator& world, const std::vector<Pace>& mine, const std::vector<std::size_t>& steps);

struct ChosenSteps {
    Pace pace;             // of those that count
    std::int64_t run = 0;  // of which they are the calmest
    bool are_calm = false;
};

bool is_calm(const LiveSpec& spec, const Pace& pace, const std::vector<double>& step_seconds,
             const std::vector<std::size_t>& steps);

}  // namespace rehearse

// A sweep: one scenario run again and again with some keys changed, every point of each axis with every point of the
// others. The first axis changes slowest.
//
//     sweep:
//       link: {PFC: [], CBFC: [models.network.flow_control=cbfc]}
//       loss: {none: [], 1e-4: [models.network.packet.loss.data=1e-4]}      # four runs
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rehearse {

struct SweepPoint {
    std::string label;
    std::vector<std::string> set;  // as --set takes it; over what the command line sets
};
struct SweepAxis {
    std::string name;
    std::vector<SweepPoint> points;  // at least one
};

inline constexpr std::size_t sweep_runs_most = 1'000;

// The product of the points, at most sweep_runs_most + 1; 1 without an axis.
std::size_t runs_of(const std::vector<SweepAxis>& axes);
// Which point of each axis run `run` takes.
std::vector<const SweepPoint*> points_of(const std::vector<SweepAxis>& axes, std::size_t run);

}  // namespace rehearse

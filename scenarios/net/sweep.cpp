#include "scenarios/net/sweep.hpp"

#include <algorithm>

namespace rehearse {

std::size_t runs_of(const std::vector<SweepAxis>& axes) {
    std::size_t runs = 1;
    for (const SweepAxis& axis : axes) runs = std::min(runs * axis.points.size(), sweep_runs_most + 1);
    return runs;
}

std::vector<const SweepPoint*> points_of(const std::vector<SweepAxis>& axes, std::size_t run) {
    std::vector<const SweepPoint*> points(axes.size());
    for (std::size_t a = axes.size(); a-- > 0;) {
        points[a] = &axes[a].points[run % axes[a].points.size()];
        run /= axes[a].points.size();
    }
    return points;
}

}  // namespace rehearse

// A step under DualPipe by kind of pass, as "Insights into DeepSeek-V3" (ISCA'25), table 4, lists it; and one pair of
// chunks alone, as deepseek-ai/profile-data traces it.
#pragma once

#include "models/workload/price.hpp"
#include "runtime/timeline.hpp"
#include "scenarios/scenario.hpp"

namespace rehearse {

// Seconds, mean over one rank of each stage. A pass lasts as its kernels do: exposed exchanges and waiting for peers in
// them included. forward, backward and weights are the passes that nothing overlaps; `bubble` is all that is neither a
// pass nor the optimizer, so that the parts add up to the step.
struct DualStep {
    double step = 0;
    double forward = 0, backward = 0, weights = 0, pair = 0, optimizer = 0, bubble = 0;
    double closed_form = 0;  // (p / 2 - 1) (F&B + B - 3 W) of the mean passes
};
DualStep dual_step(const Workload& workload, const Timeline& timeline);

// Four layers with experts forward beside four backward, in the mean: its operators take longer than their price by the
// mean of their variation, as those of every rank of the simulated step do.
struct PairedChunk {
    double span = 0, exchange = 0, exposed = 0;  // seconds; `exchange`: dispatch, combine and their waits
    double hidden() const { return 1 - exposed / exchange; }
};
PairedChunk paired_chunk(const Workload& workload, const DeviceProfile& profile, const LocalFabric& fabric);

// Simulates the scenario's step on its own profile.
struct DualFigures {
    DualStep step;
    PairedChunk chunk;
    double mfu = 0;  // attention counted causally
    std::uint32_t expert_nodes = 0;  // that the ranks of an exchange stand on
};
DualFigures dual_figures(const ValidScenario& scenario, std::uint64_t seed);

}  // namespace rehearse

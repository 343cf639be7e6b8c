// simulate(): one training step on one cluster. A function of its inputs and the seed alone.
#pragma once

#include <cstdint>
#include <vector>

#include "models/compute/profile.hpp"
#include "models/network/spec.hpp"
#include "models/workload/workload.hpp"
#include "runtime/executor.hpp"
#include "runtime/timeline.hpp"
#include "topology/cluster.hpp"
#include "topology/placement.hpp"

namespace rehearse {

struct SimulationInputs {
    const Cluster& cluster;
    const Placement& placement;
    const Workload& workload;
    const DeviceProfile& profile;
    const NetworkSpec& network;
    std::uint64_t seed = 1;
    std::vector<RankId> sampled;  // ranks whose spans the timeline keeps
};

// Throws InputError for a fidelity that is not available, InvariantBroken for a step that cannot end.
Timeline simulate(const SimulationInputs& inputs);

// The same behind Executor.
class SimulatedExecutor : public Executor {
public:
    explicit SimulatedExecutor(const SimulationInputs& inputs) : inputs_(inputs) {}
    Timeline execute(const Workload& workload) override;

private:
    SimulationInputs inputs_;
};

}  // namespace rehearse

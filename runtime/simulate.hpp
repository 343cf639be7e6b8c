// simulate(): one training step on one cluster. A function of its inputs and the seed alone.
#pragma once

#include <cstdint>
#include <vector>

#include "models/compute/profile.hpp"
#include "models/network/packet/spec.hpp"
#include "models/network/slice.hpp"
#include "models/network/spec.hpp"
#include "models/network/transfer_log.hpp"
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
    PacketSpec packet{};          // packet fidelity: the fabric,
    SliceSpec slice{};            // and what of the traffic goes as packets
    TransferRecord* record = nullptr;  // where the transfers of the step are kept, if anywhere
};

// Throws InputError for a fabric that cannot carry packets, InvariantBroken for a step that cannot end.
Timeline simulate(const SimulationInputs& inputs);

// The GPUs of the slice's ranks, which must be ranks of the placement.
TrafficSlice place_slice(const SliceSpec& slice, const Placement& placement, const Cluster& cluster);

// The same behind Executor.
class SimulatedExecutor : public Executor {
public:
    explicit SimulatedExecutor(const SimulationInputs& inputs) : inputs_(inputs) {}
    Timeline execute(const Workload& workload) override;

private:
    SimulationInputs inputs_;
};

}  // namespace rehearse

#include "runtime/simulate.hpp"

#include <algorithm>
#include <optional>

#include "models/compute/variation.hpp"
#include "models/network/make_network_model.hpp"
#include "runtime/local_fabric.hpp"
#include "runtime/priced_traffic.hpp"
#include "runtime/training_run.hpp"
#include "topology/router.hpp"

namespace rehearse {

Timeline simulate(const SimulationInputs& inputs) {
    const Router router(inputs.cluster, inputs.network.ecmp, inputs.seed);
    const std::unique_ptr<NetworkModel> network =
        make_network_model(inputs.network, inputs.cluster, router,
                           {inputs.packet, place_slice(inputs.slice, inputs.placement, inputs.cluster), inputs.seed});
    std::optional<TransferLog> log;
    if (inputs.record != nullptr) log.emplace(*network, *inputs.record);
    const DeviceProfile profile = limited_by(inputs.profile, inputs.cluster.spec().node.nvlink);
    const std::vector<std::uint32_t> hosts = hosts_of_ranks(inputs.placement, inputs.cluster);
    const std::uint32_t host_count = *std::max_element(hosts.begin(), hosts.end()) + 1;
    const Variation variation(profile.variation, inputs.seed, host_count);
    const LocalFabric fabric = local_fabric(inputs.workload.training.parallel, inputs.workload.layout, inputs.placement,
                                            inputs.cluster);
    const std::vector<PricedWork> prices = price(inputs.workload, profile, fabric);
    const TrainingRunInputs run{inputs.workload, prices,  inputs.cluster, inputs.placement,
                                variation,       profile, inputs.sampled};
    Timeline timeline = TrainingRun(run, log ? static_cast<NetworkModel&>(*log) : *network).run();
    add_priced_traffic(inputs.workload, inputs.placement, router, inputs.network, timeline.traffic);
    return timeline;
}

TrafficSlice place_slice(const SliceSpec& slice, const Placement& placement, const Cluster& cluster) {
    TrafficSlice placed{slice, {}};
    if (!slice.ranks) return placed;
    placed.gpus.resize(std::size_t{cluster.node_count()} * cluster.gpus_per_node());
    for (std::int64_t rank = slice.ranks->first; rank <= slice.ranks->last; ++rank)
        placed.gpus[placement.gpu(RankId{static_cast<std::uint32_t>(rank)}).value] = true;
    return placed;
}

Timeline SimulatedExecutor::execute(const Workload& workload) {
    const SimulationInputs& in = inputs_;
    return simulate({in.cluster, in.placement, workload, in.profile, in.network, in.seed, in.sampled, in.packet,
                     in.slice, in.record});
}

}  // namespace rehearse

#include "runtime/simulate.hpp"

#include <algorithm>

#include "models/compute/variation.hpp"
#include "models/network/make_network_model.hpp"
#include "runtime/local_fabric.hpp"
#include "runtime/priced_traffic.hpp"
#include "runtime/training_run.hpp"
#include "topology/router.hpp"

namespace rehearse {

Timeline simulate(const SimulationInputs& inputs) {
    const Router router(inputs.cluster, inputs.network.ecmp, inputs.seed);
    const std::unique_ptr<NetworkModel> network = make_network_model(inputs.network, inputs.cluster, router);
    const DeviceProfile profile = limited_by(inputs.profile, inputs.cluster.spec().node.nvlink);
    const std::vector<std::uint32_t> hosts = hosts_of_ranks(inputs.placement, inputs.cluster);
    const std::uint32_t host_count = *std::max_element(hosts.begin(), hosts.end()) + 1;
    const Variation variation(profile.variation, inputs.seed, host_count);
    const LocalFabric fabric = local_fabric(inputs.workload.layout, inputs.placement, inputs.cluster);
    const std::vector<PricedWork> prices = price(inputs.workload, profile, fabric);
    const TrainingRunInputs run{inputs.workload, prices,  inputs.cluster, inputs.placement,
                                variation,       profile, inputs.sampled};
    Timeline timeline = TrainingRun(run, *network).run();
    add_priced_traffic(inputs.workload, inputs.placement, router, inputs.network, timeline.traffic);
    return timeline;
}

Timeline SimulatedExecutor::execute(const Workload& workload) {
    const SimulationInputs& in = inputs_;
    return simulate({in.cluster, in.placement, workload, in.profile, in.network, in.seed, in.sampled});
}

}  // namespace rehearse

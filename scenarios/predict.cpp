#include "scenarios/predict.hpp"

#include <algorithm>

#include "runtime/simulate.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/workload_of.hpp"
#include "sim/base/quantile.hpp"

namespace rehearse {

Predictor::Predictor(const ValidScenario& scenario)
    : scenario_(scenario),
      cluster_(build_cluster(scenario.cluster())),
      workload_(workload_of(scenario)) {}

double Predictor::step_seconds(const DeviceProfile& profile, const std::vector<std::uint64_t>& seeds,
                               Fidelity fidelity) const {
    NetworkSpec network = scenario_.models().network;
    network.fidelity = fidelity;
    std::vector<double> times;
    for (const std::uint64_t seed : seeds) {
        const Placement placement = place_job(scenario_, workload_, cluster_, seed);
        times.push_back(simulate({cluster_, placement, workload_, profile, network, seed, {}}).end.seconds());
    }
    return median(std::move(times));
}

}  // namespace rehearse

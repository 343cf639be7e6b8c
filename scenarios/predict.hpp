// One number per scenario: the step time that validation and fits compare with a published or measured one.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/workload.hpp"
#include "scenarios/scenario.hpp"
#include "topology/cluster.hpp"

namespace rehearse {

// What stays the same when only the device profile changes: built once, predicted with many profiles.
class Predictor {
public:
    explicit Predictor(const ValidScenario& scenario);
    // Seconds: the median over the seeds.
    double step_seconds(const DeviceProfile& profile, const std::vector<std::uint64_t>& seeds, Fidelity fidelity) const;
    const Workload& workload() const { return workload_; }
    const ValidScenario& scenario() const { return scenario_; }

private:
    ValidScenario scenario_;
    Cluster cluster_;
    Workload workload_;
};


}  // namespace rehearse

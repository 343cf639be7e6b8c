#include "scenarios/one_seed.hpp"

#include "runtime/simulate.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/reading/findings.hpp"

namespace rehearse {

SeedRun run_seed(const ValidScenario& scenario, const Cluster& cluster, const Workload& workload, std::uint64_t seed,
                 const std::vector<RankId>& sampled, TransferRecord* record) {
    const ModelsSpec& models = scenario.models();
    const DeviceProfile& profile = models.profile;
    Placement placement = place_job(scenario, workload, cluster, seed);
    Timeline timeline = located(scenario.plain().written, [&] {
        return simulate({cluster, placement, workload, profile, models.network, seed, sampled, models.packet,
                         models.slice, record});
    });
    const StepRecord step{timeline.end, timeline.parts, timeline.last_arrivals, timeline.traffic};
    Metrics metrics = measure(step, workload, cluster, placement, profile.peak);
    return {seed, std::move(placement), std::move(timeline), std::move(metrics)};
}

}  // namespace rehearse

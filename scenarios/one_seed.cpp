#include "scenarios/one_seed.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/simulate.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/reading/findings.hpp"

namespace rehearse {

void check_seeds(std::uint64_t first, std::int64_t seeds) {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    if (static_cast<std::uint64_t>(seeds - 1) > most - first)
        throw InputError({{{"--seeds", 0, 0}, "", fmt::format("{} seeds from {} on pass the largest one", seeds, first),
                           fmt::format("at most {}", most), "use a smaller seed"}});
}

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

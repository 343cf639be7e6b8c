#include "scenarios/job_traffic.hpp"

#include "models/workload/volume.hpp"
#include "runtime/scheduler/place.hpp"

namespace rehearse {

namespace {

// Bytes that a rank sends per family in a step, mean over the stages.
std::array<double, group_family_count> family_bytes(const Workload& workload) {
    std::array<double, group_family_count> bytes{};
    const auto add = [&](GroupFamily family, Bytes sent) {
        bytes[static_cast<std::size_t>(family)] +=
            static_cast<double>(sent.value) / static_cast<double>(workload.programs.size());
    };
    for (std::uint32_t stage = 0; stage < workload.programs.size(); ++stage) {
        const StageVolume volume = stage_volume(workload, stage);
        for (std::size_t i = 0; i < group_family_count; ++i)
            add(static_cast<GroupFamily>(i), volume.group[i].sent_per_member);
        add(GroupFamily::local, volume.tensor.sent_per_member + volume.context.sent_per_member);
        add(GroupFamily::pipeline, volume.messages);
    }
    return bytes;
}

std::string_view family_name(GroupFamily family) {
    constexpr std::string_view names[group_family_count] = {"local", "data", "pipeline", "model", "embedding"};
    return names[static_cast<std::size_t>(family)];
}

}  // namespace

JobTraffic job_traffic(const Workload& workload) {
    const auto bytes = family_bytes(workload);
    JobTraffic traffic;
    for (std::size_t i = 0; i < group_family_count; ++i) {
        const auto family = static_cast<GroupFamily>(i);
        const std::uint32_t size = workload.layout.group_size(family);
        if (size < 2 || bytes[i] <= 0) continue;
        const bool chain = family == GroupFamily::pipeline;
        JobTraffic::Family out;
        out.name = family_name(family);
        out.pattern = chain ? GroupPattern::chain : GroupPattern::ring;
        out.bytes_per_member = chain ? bytes[i] / 2 : bytes[i];  // a stage sends half of it to each neighbour
        for (std::uint32_t group = 0; group < workload.layout.group_count(family); ++group)
            out.groups.push_back(workload.layout.members(family, group));
        traffic.families.push_back(std::move(out));
    }
    return traffic;
}

Placement place_job(const ValidScenario& scenario, const Workload& workload, const Cluster& cluster,
                    std::uint64_t seed) {
    const ParallelSpec& parallel = scenario.training().parallel;
    const auto& order = parallel.rank_order;
    std::int64_t block = order[0] == Dimension::tensor ? parallel.tensor : 1;
    if (block > 1 && order[1] == Dimension::context) block *= parallel.context;
    if (block > cluster.gpus_per_node() && block % cluster.gpus_per_node() != 0) block = 1;
    return place(job_traffic(workload), workload.layout.rank_count(), static_cast<std::uint32_t>(block), cluster,
                 scenario.job().placement, seed);
}

}  // namespace rehearse

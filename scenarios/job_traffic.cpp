#include "scenarios/job_traffic.hpp"

#include "runtime/scheduler/place.hpp"

namespace rehearse {

namespace {

double ring_share(double members) { return members > 1 ? (members - 1) / members : 0; }

double local_bytes(const Work& work) {
    double bytes = 0;
    for (const Segment& segment : work.segments) {
        const double passes = segment.collective.kind == LocalCollectiveKind::none         ? 0
                              : segment.collective.kind == LocalCollectiveKind::all_reduce ? 2
                                                                                           : 1;
        bytes += passes * segment.collective.bytes;
    }
    return bytes;
}

double verb_passes(CollectiveVerb verb) {
    return verb == CollectiveVerb::sync ? 0 : verb == CollectiveVerb::all_reduce ? 2 : 1;
}

// Bytes of a rank per family in a step, mean over the stages, before the ring share.
std::array<double, group_family_count> family_bytes(const Workload& workload) {
    std::vector<double> of_work;
    for (const Work& work : workload.works) of_work.push_back(local_bytes(work));
    std::array<double, group_family_count> bytes{};
    for (const Program& program : workload.programs) {
        for (const Instruction& instruction : program.instructions) {
            const auto family = static_cast<std::size_t>(instruction.family);
            if (instruction.op == Op::work) {
                bytes[static_cast<std::size_t>(GroupFamily::local)] += of_work[instruction.index];
            } else if (instruction.op == Op::collective) {
                const GroupCollective& collective = workload.collectives[instruction.index];
                bytes[family] += verb_passes(collective.verb) * static_cast<double>(collective.bytes.value);
            } else if (instruction.op == Op::send) {
                bytes[static_cast<std::size_t>(GroupFamily::pipeline)] +=
                    static_cast<double>(workload.stage_message.value);
            }
        }
    }
    for (double& sum : bytes) sum /= static_cast<double>(workload.programs.size());
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
        // A stage sends half of its bytes to each neighbour.
        const double per_member = chain ? bytes[i] / 2 : bytes[i] * ring_share(size);
        JobTraffic::Family out;
        out.name = family_name(family);
        out.pattern = chain ? GroupPattern::chain : GroupPattern::ring;
        out.bytes_per_member = per_member;
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

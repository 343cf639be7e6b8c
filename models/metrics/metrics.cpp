#include "models/metrics/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/workload/flops.hpp"
#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

std::array<double, part_count> mean_parts(const StepRecord& step) {
    std::array<detail::Wide, part_count> sums{};
    for (std::size_t rank = 0; rank < step.parts.size(); ++rank) {
        SimDuration total;
        for (std::size_t part = 0; part < part_count; ++part) {
            sums[part] += step.parts[rank][part].value;
            total += step.parts[rank][part];
        }
        REHEARSE_CHECK(total.value == step.end.value,
                       fmt::format("the parts of rank {} add up to {} ps, the step took {} ps", rank, total.value,
                                   step.end.value));
    }
    std::array<double, part_count> means{};
    const double scale = 1e-12 / static_cast<double>(step.parts.size());
    for (std::size_t part = 0; part < part_count; ++part) means[part] = static_cast<double>(sums[part]) * scale;
    return means;
}

// The busiest links tier by tier: many equal ports of one tier would hide the one hot link of another.
void add_links(Metrics& metrics, const LinkTraffic& traffic, const Cluster& cluster) {
    REHEARSE_CHECK(traffic.bytes.size() == cluster.links().size(), "traffic does not cover the links of the cluster");
    std::array<std::vector<std::uint32_t>, link_tier_count> used;
    for (std::uint32_t i = 0; i < traffic.bytes.size(); ++i) {
        const auto tier = static_cast<std::size_t>(cluster.link(LinkId{i}).tier);
        metrics.bytes_per_tier[tier] += traffic.bytes[i];
        if (traffic.bytes[i] > 0) used[tier].push_back(i);
    }
    const auto busier = [&](std::uint32_t a, std::uint32_t b) {
        return traffic.busy_seconds[a] != traffic.busy_seconds[b] ? traffic.busy_seconds[a] > traffic.busy_seconds[b]
                                                                  : a < b;
    };
    std::vector<std::uint32_t> busiest;
    for (std::vector<std::uint32_t>& links : used) {
        const auto end = links.begin() + static_cast<std::ptrdiff_t>(std::min(links.size(), busiest_links_per_tier));
        std::partial_sort(links.begin(), end, links.end(), busier);
        busiest.insert(busiest.end(), links.begin(), end);
    }
    std::sort(busiest.begin(), busiest.end(), busier);
    for (const std::uint32_t link : busiest) {
        metrics.busiest_links.push_back(
            {LinkId{link}, traffic.bytes[link], traffic.busy_seconds[link] / metrics.step_time_s});
    }
}

void find_busiest_stage(BottleneckHints& hints, const StepRecord& step, const RankLayout& layout) {
    const std::uint32_t stages = layout.size(Dimension::pipeline);
    std::vector<double> busy(stages, 0.0);
    for (std::uint32_t rank = 0; rank < step.parts.size(); ++rank) {
        const auto& parts = step.parts[rank];
        busy[layout.coordinate(RankId{rank}).pipeline] += parts[static_cast<std::size_t>(Part::compute)].seconds() +
                                                          parts[static_cast<std::size_t>(Part::optimizer)].seconds();
    }
    const double ranks_per_stage = static_cast<double>(layout.rank_count()) / stages;
    const auto most = std::max_element(busy.begin(), busy.end());
    hints.stage_busiest = static_cast<std::uint32_t>(most - busy.begin());
    hints.stage_busiest_s = *most / ranks_per_stage;
    hints.stage_mean_s = std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(layout.rank_count());
}

void find_late_host(BottleneckHints& hints, const StepRecord& step, const Cluster& cluster,
                    const Placement& placement) {
    std::vector<std::uint64_t> late(cluster.node_count(), 0);
    std::uint64_t all = 0;
    for (std::uint32_t rank = 0; rank < step.last_arrivals.size(); ++rank) {
        late[cluster.node_of(placement.gpu(RankId{rank})).value] += step.last_arrivals[rank];
        all += step.last_arrivals[rank];
    }
    if (all == 0) return;
    const auto most = std::max_element(late.begin(), late.end());
    hints.host_last = NodeId{static_cast<std::uint32_t>(most - late.begin())};
    hints.host_last_share = static_cast<double>(*most) / static_cast<double>(all);
}

BottleneckHints find_hints(const Metrics& metrics, const StepRecord& step, const Workload& workload,
                           const Cluster& cluster, const Placement& placement) {
    BottleneckHints hints;
    const auto after_compute = metrics.breakdown_s.begin() + 1;
    static_assert(static_cast<int>(Part::compute) == 0, "the search below leaves out the first part");
    const auto largest = std::max_element(after_compute, metrics.breakdown_s.end());
    hints.part_largest = static_cast<Part>(largest - metrics.breakdown_s.begin());
    find_busiest_stage(hints, step, workload.layout);
    find_late_host(hints, step, cluster, placement);
    return hints;
}

}  // namespace

Metrics measure(const StepRecord& step, const Workload& workload, const Cluster& cluster, const Placement& placement,
                FlopRate peak) {
    const std::uint32_t ranks = workload.layout.rank_count();
    REHEARSE_CHECK(step.parts.size() == ranks, "the step and the workload have different ranks");
    REHEARSE_CHECK(step.end.value > 0, "a step that took no time");
    const TrainingSpec& training = workload.training;
    Metrics metrics;
    metrics.step_time_s = step.end.seconds();
    metrics.tokens_per_s =
        static_cast<double>(training.batch()) * static_cast<double>(training.model.sequence) / metrics.step_time_s;
    metrics.tokens_per_s_per_gpu = metrics.tokens_per_s / ranks;
    const double per_flop = metrics.tokens_per_s_per_gpu / peak.value;
    metrics.model_flops_per_token = workload.flops_per_token;
    metrics.mfu = per_flop * workload.flops_per_token;
    metrics.mfu_full_attention = per_flop * model_flops_per_token(training, AttentionCount::full);
    metrics.hfu = per_flop * workload.hardware_flops_per_token;
    metrics.breakdown_s = mean_parts(step);
    metrics.memory = workload.memory;
    add_links(metrics, step.traffic, cluster);
    metrics.hints = find_hints(metrics, step, workload, cluster, placement);
    return metrics;
}

}  // namespace rehearse

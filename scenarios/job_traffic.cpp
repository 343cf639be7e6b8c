#include "scenarios/job_traffic.hpp"

#include <algorithm>

#include "models/workload/volume.hpp"
#include "runtime/scheduler/place.hpp"

namespace rehearse {

namespace {

class TrafficBuilder {
public:
    explicit TrafficBuilder(const Workload& workload) : layout_(workload.layout) {
        for (std::uint32_t stage = 0; stage < workload.programs.size(); ++stage)
            volumes_.push_back(stage_volume(workload, stage));
    }

    void add_along(Dimension dimension, GroupPattern pattern, std::string_view name,
                   CollectiveVolume StageVolume::*volume) {
        double bytes = 0;
        for (const StageVolume& stage : volumes_) bytes += static_cast<double>((stage.*volume).sent_per_member.value);
        std::vector<std::vector<RankId>> groups;
        for (RankId first{0}; first.value < layout_.rank_count(); ++first.value) {
            Coordinate at = layout_.coordinate(first);
            if (at[dimension] != 0) continue;
            groups.emplace_back();
            for (; at[dimension] < layout_.size(dimension); ++at[dimension]) groups.back().push_back(layout_.rank(at));
        }
        add(name, pattern, std::move(groups), bytes / static_cast<double>(volumes_.size()));
    }

    void add_rings(GroupFamily family, std::string_view name) {
        double bytes = 0, stages = 0;
        for (const StageVolume& stage : volumes_) {
            const Bytes sent = stage.group[static_cast<std::size_t>(family)].sent_per_member;
            bytes += static_cast<double>(sent.value);
            stages += sent > Bytes{0} ? 1 : 0;
        }
        std::vector<std::vector<RankId>> groups;
        for (std::uint32_t group = 0; group < layout_.group_count(family); ++group)
            groups.push_back(layout_.members(family, group));
        if (stages > 0) add(name, GroupPattern::ring, std::move(groups), bytes / stages);
    }

    void add_exchanges(const ParallelSpec& parallel) {
        std::vector<std::vector<RankId>> groups = exchange_groups(parallel, layout_);
        if (groups.empty()) return;
        double bytes = 0;
        for (const StageVolume& stage : volumes_) bytes += static_cast<double>(stage.expert.sent_per_member.value);
        add("expert", GroupPattern::all_to_all, std::move(groups), bytes / static_cast<double>(volumes_.size()));
    }

    void add_pipeline(std::int64_t chunks) {
        if (volumes_.size() < 2) return;
        double bytes = 0;  // 2 (v p - 1) hops of every micro-batch
        for (const StageVolume& stage : volumes_) bytes += static_cast<double>(stage.messages.value);
        const double hop = bytes / static_cast<double>(2 * (chunks * static_cast<std::int64_t>(volumes_.size()) - 1));
        std::vector<std::vector<RankId>> chains, ends;
        for (std::uint32_t group = 0; group < layout_.group_count(GroupFamily::pipeline); ++group) {
            chains.push_back(layout_.members(GroupFamily::pipeline, group));
            ends.push_back({chains.back().back(), chains.back().front()});
        }
        add("pipeline", GroupPattern::chain, std::move(chains), hop * static_cast<double>(chunks));
        add("pipeline_return", GroupPattern::chain, std::move(ends), hop * static_cast<double>(chunks - 1));
    }

    JobTraffic take() { return std::move(traffic_); }

private:
    void add(std::string_view name, GroupPattern pattern, std::vector<std::vector<RankId>> groups, double bytes) {
        if (bytes > 0 && groups.front().size() > 1)
            traffic_.families.push_back({std::string(name), pattern, std::move(groups), bytes});
    }

    const RankLayout& layout_;
    std::vector<StageVolume> volumes_;
    JobTraffic traffic_;
};

}  // namespace

JobTraffic job_traffic(const Workload& workload) {
    TrafficBuilder builder(workload);
    builder.add_along(Dimension::tensor, GroupPattern::ring, "tensor", &StageVolume::tensor);
    builder.add_along(Dimension::context, GroupPattern::cycle, "context", &StageVolume::context);
    builder.add_exchanges(workload.training.parallel);
    builder.add_rings(GroupFamily::data, "data");
    builder.add_rings(GroupFamily::expert_data, "expert_data");
    builder.add_rings(GroupFamily::embedding, "embedding");
    builder.add_pipeline(workload.training.parallel.virtual_stages);
    return builder.take();
}

Placement place_job(const ValidScenario& scenario, const Workload& workload, const Cluster& cluster,
                    std::uint64_t seed) {
    const ParallelSpec& parallel = scenario.training().parallel;
    const auto& order = parallel.rank_order;
    std::int64_t block = order[0] == Dimension::tensor ? parallel.tensor : 1;
    if (block > 1 && order[1] == Dimension::context) block *= parallel.context;
    // Ranks that exchange rows fill whole nodes.
    const bool data_next =
        order[0] == Dimension::tensor && order[1] == Dimension::context && order[2] == Dimension::data;
    const std::int64_t exchanging = std::min<std::int64_t>(parallel.expert_span(), cluster.gpus_per_node());
    if (data_next && exchanging % block == 0) block = exchanging;
    if (block > cluster.gpus_per_node() && block % cluster.gpus_per_node() != 0) block = 1;
    return place(job_traffic(workload), workload.layout.rank_count(), static_cast<std::uint32_t>(block), cluster,
                 scenario.job().placement, seed);
}

}  // namespace rehearse

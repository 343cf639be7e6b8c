#include "runtime/priced_traffic.hpp"

#include "models/network/transfer_paths.hpp"
#include "models/workload/volume.hpp"
#include "runtime/rings.hpp"

namespace rehearse {

namespace {

class PricedTraffic {
public:
    PricedTraffic(const Workload& workload, const Placement& placement, const Router& router,
                  const NetworkSpec& network)
        : workload_(workload), placement_(placement), router_(router), paths_(router.cluster(), router, network) {
        for (std::uint32_t stage = 0; stage < workload.programs.size(); ++stage)
            volumes_.push_back(stage_volume(workload, stage));
    }

    void add_to(LinkTraffic& traffic) {
        add_local(Dimension::tensor);
        add_local(Dimension::context);
        add_exchanges();
        for (const GroupFamily family : {GroupFamily::data, GroupFamily::embedding, GroupFamily::expert_data})
            add_family(family);
        const std::vector<double> bytes = paths_.carried();
        for (std::size_t link = 0; link < bytes.size(); ++link) {
            traffic.bytes[link] += bytes[link];
            traffic.busy_seconds[link] += bytes[link] / paths_.capacities()[link];
        }
    }

private:
    void add_local(Dimension dimension) {
        const RankLayout& layout = workload_.layout;
        if (layout.size(dimension) == 1) return;
        for (std::uint32_t rank = 0; rank < layout.rank_count(); ++rank) {
            Coordinate at = layout.coordinate(RankId{rank});
            if (at[dimension] != 0) continue;
            std::vector<GpuId> gpus;
            for (; at[dimension] < layout.size(dimension); ++at[dimension])
                gpus.push_back(placement_.gpu(layout.rank(at)));
            const StageVolume& volume = volumes_[at.pipeline];
            if (dimension == Dimension::context) {
                add_ring(gpus, volume.context);  // the blocks travel in rank order
            } else {
                add_rings(std::move(gpus), volume.tensor);
            }
        }
    }

    // Rows of experts, as the all-to-all that their bytes are counted for.
    void add_exchanges() {
        for (const std::vector<RankId>& group : exchange_groups(workload_.training.parallel, workload_.layout)) {
            const std::uint32_t stage = workload_.layout.coordinate(group.front()).pipeline;
            TransferRequest request;
            request.pattern = TransferPattern::all_to_all;
            std::vector<GpuId> gpus;
            for (const RankId rank : group) gpus.push_back(placement_.gpu(rank));
            request.gpus = gpus;
            request.size = volumes_[stage].expert.sent_per_member;
            add(request);
        }
    }

    void add_family(GroupFamily family) {
        const RankLayout& layout = workload_.layout;
        for (std::uint32_t group = 0; group < layout.group_count(family); ++group) {
            const std::vector<RankId> members = layout.members(family, group);
            std::vector<GpuId> gpus;
            for (const RankId member : members) gpus.push_back(placement_.gpu(member));
            if (gpus.size() < 2 || !in_one_node(gpus, router_.cluster())) continue;
            const std::uint32_t stage = layout.coordinate(members.front()).pipeline;
            add_rings(std::move(gpus), volumes_[stage].group[static_cast<std::size_t>(family)]);
        }
    }

    void add_rings(std::vector<GpuId> gpus, CollectiveVolume volume) {
        const std::vector<std::vector<GpuId>> rings = build_rings(std::move(gpus), router_.cluster());
        volume.sent_per_member = Bytes{volume.sent_per_member.value / static_cast<std::int64_t>(rings.size())};
        for (const std::vector<GpuId>& ring : rings) add_ring(ring, volume);
    }

    void add_ring(const std::vector<GpuId>& gpus, const CollectiveVolume& volume) {
        TransferRequest request;
        request.pattern = TransferPattern::ring;
        request.gpus = gpus;
        request.size = volume.sent_per_member;
        request.steps = volume.steps;
        add(request);
    }

    void add(const TransferRequest& request) {
        if (request.size <= Bytes{0}) return;
        const TransferPaths::Prepared prepared = paths_.prepare(request);
        paths_.count(prepared.index, static_cast<double>(request.size.value), prepared.wire_ratio);
        paths_.release(prepared.index);
    }

    const Workload& workload_;
    const Placement& placement_;
    const Router& router_;
    TransferPaths paths_;
    std::vector<StageVolume> volumes_;
};

}  // namespace

void add_priced_traffic(const Workload& workload, const Placement& placement, const Router& router,
                        const NetworkSpec& network, LinkTraffic& traffic) {
    PricedTraffic(workload, placement, router, network).add_to(traffic);
}

}  // namespace rehearse

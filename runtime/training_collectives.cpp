// Group collectives of TrainingRun: posting, meeting, starting on the network, ending.
#include <fmt/format.h>

#include <algorithm>

#include "models/compute/cost.hpp"
#include "models/workload/volume.hpp"
#include "runtime/rings.hpp"
#include "runtime/training_run.hpp"
#include "runtime/transfer_token.hpp"

namespace rehearse {

namespace {

constexpr std::size_t index_of(GroupFamily family) { return static_cast<std::size_t>(family); }

TrafficKind kind_of(GroupFamily family) {
    switch (family) {
        case GroupFamily::data:
        case GroupFamily::expert_data: return TrafficKind::data;
        case GroupFamily::embedding: return TrafficKind::embedding;
        default: return TrafficKind::other;
    }
}

CollectiveKind kind_of(CollectiveVerb verb) {
    if (verb == CollectiveVerb::all_reduce) return CollectiveKind::all_reduce;
    return verb == CollectiveVerb::all_gather ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter;
}

}  // namespace

PostedCollective& TrainingRun::posted(GroupFamily family, std::uint32_t group, std::uint32_t sequence) {
    return collectives_[index_of(family)][std::size_t{group} * per_group_[index_of(family)] + sequence];
}

void TrainingRun::post(std::uint32_t rank, const Instruction& instruction) {
    const GroupFamily family = instruction.family;
    const RankLayout& layout = in_.workload.layout;
    const std::uint32_t group = layout.group_of(family, RankId{rank});
    RankCursor& cursor = ranks_[rank];
    const std::uint32_t sequence = cursor.posted[index_of(family)]++;
    PostedCollective& collective = posted(family, group, sequence);
    if (collective.arrived == 0) {
        collective.spec = instruction.index;
        collective.first_rank = rank;
    }
    const GroupCollective& mine = in_.workload.collectives[instruction.index];
    const GroupCollective& theirs = in_.workload.collectives[collective.spec];
    REHEARSE_CHECK(mine.verb == theirs.verb && mine.bytes == theirs.bytes,
                   fmt::format("ranks {} and {} disagree on collective {} of their group", collective.first_rank, rank,
                               sequence));
    if (collective.arrived == 0 || cursor.now >= collective.ready) {
        collective.ready = cursor.now;
        collective.last_rank = rank;
    }
    if (++collective.arrived == layout.group_size(family)) {
        ++last_arrivals_[collective.last_rank];
        try_start(family, group, sequence);
    }
}

// Collectives of one group run one after another, in the order in which they were posted.
void TrainingRun::try_start(GroupFamily family, std::uint32_t group, std::uint32_t sequence) {
    PostedCollective& collective = posted(family, group, sequence);
    if (collective.arrived < in_.workload.layout.group_size(family) || collective.started != never) return;
    if (sequence > 0) {
        const PostedCollective& before = posted(family, group, sequence - 1);
        if (before.ended == never) return;
        collective.ready = std::max(collective.ready, before.ended);
    }
    collective.started = collective.ready;
    start_transfer(family, group, sequence);
}

void TrainingRun::start_transfer(GroupFamily family, std::uint32_t group, std::uint32_t sequence) {
    PostedCollective& collective = posted(family, group, sequence);
    const GroupCollective& spec = in_.workload.collectives[collective.spec];
    const std::uint32_t n = in_.workload.layout.group_size(family);
    if (spec.verb == CollectiveVerb::sync) {
        std::int64_t levels = 0;
        while ((1u << levels) < n) ++levels;
        collective.transfers = 1;
        finish_collective(family, group, sequence, collective.started + in_.profile.message_latency * (2 * levels));
        return;
    }
    std::vector<GpuId> gpus = group_gpus(family, group);
    if (in_one_node(gpus, in_.cluster)) {  // NVLink ports that nothing else uses at that time: closed form
        collective.transfers = 1;
        const double time = local_collective_seconds(in_.profile, kind_of(spec.verb),
                                                     static_cast<double>(spec.bytes.value), n);
        finish_collective(family, group, sequence, collective.started + seconds(time));
        return;
    }
    const std::vector<std::vector<GpuId>> rings = build_rings(std::move(gpus), in_.cluster);
    collective.transfers = static_cast<std::uint32_t>(rings.size());
    const CollectiveVolume volume = ring_volume(spec, n);  // over all rings
    const Bytes size{volume.sent_per_member.value / static_cast<std::int64_t>(rings.size())};
    for (std::size_t channel = 0; channel < rings.size(); ++channel) {
        TransferRequest request;
        request.pattern = TransferPattern::ring;
        request.gpus = rings[channel];
        request.size = std::max(Bytes{1}, size);
        request.efficiency = in_.profile.group_efficiency.value;
        request.steps = volume.steps;
        request.group_key = (std::uint64_t{index_of(family)} + 1) << 56 | std::uint64_t{group} << 16 | channel;
        request.token = CollectiveToken{family, group, sequence}.pack();
        request.kind = kind_of(family);
        network_.start(collective.started, request);
    }
}

void TrainingRun::finish_collective(GroupFamily family, std::uint32_t group, std::uint32_t sequence, SimTime at) {
    PostedCollective& collective = posted(family, group, sequence);
    if (--collective.transfers > 0) return;
    collective.ended = at;
    for (std::uint32_t rank = collective.waiters; rank != no_index;) {
        const std::uint32_t next = ranks_[rank].waiter;
        ranks_[rank].waiter = no_index;
        ranks_[rank].waiting = Waiting::nothing;
        runnable_.push_back(rank);
        rank = next;
    }
    collective.waiters = no_index;
    if (sequence + 1 < per_group_[index_of(family)]) try_start(family, group, sequence + 1);
}

bool TrainingRun::await(std::uint32_t rank, const Instruction& instruction) {
    const std::uint32_t group = in_.workload.layout.group_of(instruction.family, RankId{rank});
    PostedCollective& collective = posted(instruction.family, group, instruction.index);
    RankCursor& cursor = ranks_[rank];
    if (collective.ended == never) {
        cursor.waiting = Waiting::collective;
        cursor.waiter = collective.waiters;
        collective.waiters = rank;
        return false;
    }
    wait_until(rank, std::min(collective.started, collective.ended), Part::straggler_wait, instruction);
    wait_until(rank, collective.ended, Part::dp_exposed, instruction);
    return true;
}

std::vector<GpuId> TrainingRun::group_gpus(GroupFamily family, std::uint32_t group) const {
    std::vector<GpuId> gpus;
    for (RankId member : in_.workload.layout.members(family, group)) gpus.push_back(in_.placement.gpu(member));
    return gpus;
}

}  // namespace rehearse

#include "models/workload/volume.hpp"

#include <cmath>

namespace rehearse {

namespace {

void add(CollectiveVolume& sum, const CollectiveVolume& more) {
    sum.sent_per_member += more.sent_per_member;
    sum.steps += more.steps;
}

CollectiveVolume& volume_of(LocalCollectiveKind kind, StageVolume& volume) {
    switch (kind) {
        case LocalCollectiveKind::ring_exchange: return volume.context;
        case LocalCollectiveKind::dispatch:
        case LocalCollectiveKind::combine: return volume.expert;
        default: return volume.tensor;
    }
}

CollectiveVolume ring(CollectiveKind kind, std::int64_t members, Bytes size) {
    return collective_volume(kind, CollectiveAlgorithm::ring, members, size);
}

}  // namespace

CollectiveVolume ring_volume(const GroupCollective& collective, std::uint32_t members) {
    switch (collective.verb) {
        case CollectiveVerb::all_gather: return ring(CollectiveKind::all_gather, members, collective.bytes);
        case CollectiveVerb::reduce_scatter: return ring(CollectiveKind::reduce_scatter, members, collective.bytes);
        case CollectiveVerb::all_reduce: return ring(CollectiveKind::all_reduce, members, collective.bytes);
        case CollectiveVerb::sync: break;
    }
    return {};
}

CollectiveVolume local_volume(const LocalCollective& collective, const ParallelSpec& parallel) {
    const Bytes bytes{std::llround(collective.bytes)};
    switch (collective.kind) {
        case LocalCollectiveKind::all_gather: return ring(CollectiveKind::all_gather, parallel.tensor, bytes);
        case LocalCollectiveKind::reduce_scatter: return ring(CollectiveKind::reduce_scatter, parallel.tensor, bytes);
        case LocalCollectiveKind::all_reduce: return ring(CollectiveKind::all_reduce, parallel.tensor, bytes);
        case LocalCollectiveKind::ring_exchange: return {bytes, 1};
        case LocalCollectiveKind::all_to_all:
            return collective_volume(CollectiveKind::all_to_all, CollectiveAlgorithm::direct, parallel.tensor, bytes);
        case LocalCollectiveKind::dispatch:
        case LocalCollectiveKind::combine: {
            const ExchangeShape& shape = collective.exchange;
            const double rows = shape.tokens * static_cast<double>(shape.top_k);
            return collective_volume(CollectiveKind::all_to_all, CollectiveAlgorithm::direct, parallel.expert,
                                     Bytes{std::llround(rows * shape.token_bytes)});
        }
        case LocalCollectiveKind::none: break;
    }
    return {};
}

StageVolume stage_volume(const Workload& workload, std::uint32_t stage) {
    StageVolume volume;
    for (const Instruction& instruction : workload.programs[stage].instructions) {
        if (instruction.op == Op::send) {
            volume.messages += workload.stage_message;
        } else if (instruction.op == Op::collective) {
            const std::uint32_t members = workload.layout.group_size(instruction.family);
            add(volume.group[static_cast<std::size_t>(instruction.family)],
                ring_volume(workload.collectives[instruction.index], members));
        } else if (instruction.op == Op::work) {
            for (const Segment& segment : workload.works[instruction.index].segments) {
                add(volume_of(segment.collective.kind, volume),
                    local_volume(segment.collective, workload.training.parallel));
            }
        }
    }
    return volume;
}

}  // namespace rehearse

// How much a rank sends: the ring collectives of a step as volumes (collectives/collective.hpp has the arithmetic).
// One all-gather of the 175B model over 8 tensor ranks: 2 x 2048 x 12288 bytes, of which a GPU sends 7/8 = 44.0 MB.
#pragma once

#include <array>

#include "models/collectives/collective.hpp"
#include "models/workload/workload.hpp"

namespace rehearse {

// In a ring of `members`; nothing for a synchronisation.
CollectiveVolume ring_volume(const GroupCollective& collective, std::uint32_t members);
// Over the tensor, context or expert group: in a ring, of which a context exchange is one step; all-to-alls directly.
CollectiveVolume local_volume(const LocalCollective& collective, const ParallelSpec& parallel);

// What one rank of a pipeline stage sends in a step.
struct StageVolume {
    CollectiveVolume tensor;
    CollectiveVolume context;
    CollectiveVolume expert;  // dispatch and combine as an all-to-all
    std::array<CollectiveVolume, group_family_count> group;  // by GroupFamily of the collective
    Bytes messages;                                          // activations and their gradients
};
StageVolume stage_volume(const Workload& workload, std::uint32_t stage);

}  // namespace rehearse

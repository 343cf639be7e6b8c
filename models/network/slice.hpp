// A slice of a run's traffic: what goes as packets while the rest stays flows.
//
// Bounds that are absent bound nothing; a transfer must lie within all that are given. A rank's transfers are those
// that it sends or receives, and a collective belongs to each of its members: the slice `ranks=0-63` is all that ranks
// 0 to 63 see of the network. Time is that of the transfer's start; a transfer goes whole one way or the other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network/network_model.hpp"

namespace rehearse {

// As the user says it.
struct SliceSpec {
    struct Ranks {
        std::int64_t first = 0, last = 0;  // both included
    };
    struct Time {
        SimDuration begin, end;            // from the start of the step; `end` not included
    };
    std::optional<Ranks> ranks;
    std::optional<TrafficKind> phase;
    std::optional<Time> time;

    bool is_bounded() const { return ranks || phase || time; }
};

// The same of a placed job.
struct TrafficSlice {
    SliceSpec spec;
    std::vector<bool> gpus;  // by GpuId: those of `spec.ranks`; only looked at when there are some

    bool holds(SimTime start, const TransferRequest& request) const;
};

}  // namespace rehearse

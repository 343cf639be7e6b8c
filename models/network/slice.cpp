#include "models/network/slice.hpp"

#include <algorithm>

namespace rehearse {

bool TrafficSlice::holds(SimTime start, const TransferRequest& request) const {
    if (spec.phase && *spec.phase != request.kind) return false;
    if (spec.time) {
        const SimDuration since{start.value};
        if (since < spec.time->begin || since >= spec.time->end) return false;
    }
    if (!spec.ranks) return true;
    return std::any_of(request.gpus.begin(), request.gpus.end(), [&](GpuId gpu) { return gpus[gpu.value]; });
}

}  // namespace rehearse

// Placement: which GPU runs which rank. A value; made by runtime/scheduler/place().
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"

namespace rehearse {

class Placement {
public:
    Placement() = default;
    // gpu_of[r] = GPU of rank r. InvariantBroken when a GPU is used twice or lies outside [0, gpu_count).
    Placement(std::vector<GpuId> gpu_of, std::uint32_t gpu_count);
    std::uint32_t rank_count() const { return static_cast<std::uint32_t>(gpu_of_.size()); }
    GpuId gpu(RankId rank) const { return gpu_of_[rank.value]; }
    const std::vector<GpuId>& gpus() const { return gpu_of_; }

private:
    std::vector<GpuId> gpu_of_;
};

}  // namespace rehearse

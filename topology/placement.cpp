#include "topology/placement.hpp"

#include <utility>

#include "sim/base/checks.hpp"

namespace rehearse {

Placement::Placement(std::vector<GpuId> gpu_of, std::uint32_t gpu_count) : gpu_of_(std::move(gpu_of)) {
    std::vector<bool> taken(gpu_count, false);
    for (GpuId gpu : gpu_of_) {
        REHEARSE_CHECK(gpu.value < gpu_count, "a rank placed on a GPU outside the cluster");
        REHEARSE_CHECK(!taken[gpu.value], "two ranks placed on one GPU");
        taken[gpu.value] = true;
    }
}

}  // namespace rehearse

#include "runtime/rings.hpp"

#include <algorithm>

namespace rehearse {

bool in_one_node(const std::vector<GpuId>& gpus, const Cluster& cluster) {
    return std::all_of(gpus.begin(), gpus.end(),
                       [&](GpuId gpu) { return cluster.node_of(gpu) == cluster.node_of(gpus.front()); });
}

std::vector<std::vector<GpuId>> build_rings(std::vector<GpuId> gpus, const Cluster& cluster) {
    std::sort(gpus.begin(), gpus.end());
    std::size_t nodes = 0, fewest = gpus.size();
    for (std::size_t i = 0, run = 0; i < gpus.size(); ++i) {
        ++run;
        if (i + 1 < gpus.size() && cluster.node_of(gpus[i + 1]) == cluster.node_of(gpus[i])) continue;
        ++nodes;
        fewest = std::min(fewest, run);
        run = 0;
    }
    if (nodes == 1) return {std::move(gpus)};  // NVLink joins all of them: one ring fills every GPU's port

    std::vector<std::vector<GpuId>> rings(fewest);
    for (std::size_t begin = 0; begin < gpus.size();) {
        std::size_t end = begin;
        while (end < gpus.size() && cluster.node_of(gpus[end]) == cluster.node_of(gpus[begin])) ++end;
        for (std::size_t channel = 0; channel < rings.size(); ++channel) {
            for (std::size_t i = 0; i < end - begin; ++i) {
                rings[channel].push_back(gpus[begin + (i + channel) % (end - begin)]);
            }
            // Back over NVLink to the GPU that the ring came in by, whose NIC it leaves through: hops keep to one rail.
            if (end - begin > 1) rings[channel].push_back(gpus[begin + channel % (end - begin)]);
        }
        begin = end;
    }
    return rings;
}

}  // namespace rehearse

#include "models/network/sprayed_links.hpp"

#include <algorithm>

namespace rehearse {

std::vector<WeightedLink> sprayed_links(const Router& router, GpuId source, GpuId destination) {
    struct Share {
        VertexId at;
        double weight;
    };
    const Cluster& cluster = router.cluster();
    const VertexId end = cluster.gpu_vertex(destination);
    std::vector<WeightedLink> links;
    std::vector<Share> level{{cluster.gpu_vertex(source), 1.0}}, next;
    while (!level.empty()) {  // all vertices of a level are equally far from the destination
        next.clear();
        for (const Share& share : level) {
            if (share.at == end) continue;
            const auto group = router.next_hops(share.at, destination);
            const double weight = share.weight / static_cast<double>(group.size());
            for (const LinkId link : group) {
                links.push_back({link, weight});
                next.push_back({cluster.link(link).to, weight});
            }
        }
        std::sort(next.begin(), next.end(), [](const Share& a, const Share& b) { return a.at < b.at; });
        level.clear();
        for (const Share& share : next) {
            if (!level.empty() && level.back().at == share.at) level.back().weight += share.weight;
            else level.push_back(share);
        }
    }
    return links;
}

}  // namespace rehearse

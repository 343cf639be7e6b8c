#include "models/collectives/nccl_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/base/checks.hpp"

namespace rehearse {

namespace {

double tree_levels(std::int64_t nodes) {
    return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(nodes - 1)));
}

// What the busiest node of two complementary binary trees sends, as a multiple of the message.
double tree_share(std::int64_t nodes) { return nodes == 1 ? 0 : nodes == 2 ? 1 : 2; }

NcclShape ring_shape(double nodes, double members) {
    const double steps = members - 1;
    NcclShape shape;
    shape.hops_network = nodes > 1 ? steps * nodes / members : 0;
    shape.hops_nvlink = steps - shape.hops_network;
    shape.share_nvlink = members > nodes ? steps / members : 0;
    shape.share_network = nodes > 1 ? steps / members : 0;
    return shape;
}

NcclShape twice(const NcclShape& shape) {
    return {2 * shape.hops_nvlink, 2 * shape.hops_network, 2 * shape.share_nvlink, 2 * shape.share_network};
}

double seconds_per_byte(double share, Bandwidth rate) {
    return rate.value > 0 ? share / rate.bytes_per_second() : 0;
}

}  // namespace

std::string_view name(NcclAlgorithm algorithm) {
    switch (algorithm) {
        case NcclAlgorithm::ring:
            return "ring";
        case NcclAlgorithm::tree:
            return "tree";
        case NcclAlgorithm::nvls:
            return "nvls";
        case NcclAlgorithm::direct:
            break;
    }
    return "direct";
}

std::string_view name(NcclProtocol protocol) { return protocol == NcclProtocol::ll ? "ll" : "simple"; }

std::optional<NcclShape> nccl_shape(CollectiveKind kind, NcclAlgorithm algorithm, const NodeGroup& group) {
    REHEARSE_CHECK(group.nodes >= 1 && group.gpus_per_node >= 1, "a collective has members");
    const double nodes = static_cast<double>(group.nodes), gpus = static_cast<double>(group.gpus_per_node);
    const double members = nodes * gpus;
    const bool reduces = kind == CollectiveKind::all_reduce;
    if (algorithm == NcclAlgorithm::ring) {
        const NcclShape once = ring_shape(nodes, members);
        if (reduces) return twice(once);
        if (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter) return once;
        return std::nullopt;
    }
    if (algorithm == NcclAlgorithm::direct) {
        if (kind != CollectiveKind::all_to_all) return std::nullopt;
        return NcclShape{gpus - 1, members - gpus, (gpus - 1) / members, gpus * (members - gpus) / members};
    }
    if (!reduces) return std::nullopt;
    NcclShape shape{0, 2 * tree_levels(group.nodes), 0, tree_share(group.nodes)};
    if (group.gpus_per_node == 1) return shape;
    const bool switches = algorithm == NcclAlgorithm::nvls;
    shape.hops_nvlink = switches ? 2 : 2 * (gpus - 1);
    shape.share_nvlink = switches ? 1 : 2 * (gpus - 1) / gpus;
    return shape;
}

double nccl_seconds(const NcclCosts& costs, CollectiveKind kind, const NodeGroup& group, Bytes size) {
    const std::optional<NcclShape> shape = nccl_shape(kind, costs.algorithm, group);
    REHEARSE_CHECK(shape.has_value(), "this collective has no such algorithm");
    REHEARSE_CHECK(size >= Bytes{0}, "a collective has a size");
    if (group.members() == 1) return costs.launch.seconds();
    const double bytes = static_cast<double>(size.value);
    const double nvlink = seconds_per_byte(shape->share_nvlink, costs.nvlink.rate);
    const double network = seconds_per_byte(shape->share_network, costs.network.rate);
    const double hops =
        shape->hops_nvlink * costs.nvlink.hop.seconds() + shape->hops_network * costs.network.hop.seconds();
    const double fill = shape->hops_nvlink * nvlink + shape->hops_network * network;
    const double filling = std::min(static_cast<double>(costs.chunk_max.value) * fill,
                                    std::sqrt(costs.chunk_cost.seconds() * bytes * fill));
    return costs.launch.seconds() + hops + filling + bytes * std::max(nvlink, network) +
           bytes * seconds_per_byte(1, costs.pass);
}

NcclChoice nccl_fastest(std::span<const NcclCosts> sets, CollectiveKind kind, const NodeGroup& group, Bytes size,
                        std::optional<NcclAlgorithm> forced) {
    NcclChoice best;
    for (const NcclCosts& costs : sets) {
        if (forced && costs.algorithm != *forced) continue;
        if (!nccl_shape(kind, costs.algorithm, group)) continue;
        const double seconds = nccl_seconds(costs, kind, group, size);
        if (best.costs == nullptr || seconds < best.seconds) best = {seconds, &costs};
    }
    REHEARSE_CHECK(best.costs != nullptr, "no set of costs has this collective and algorithm");
    return best;
}

}  // namespace rehearse

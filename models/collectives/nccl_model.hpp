// Time of a collective as NCCL runs it over the two tiers of a cluster: NVLink inside a node, the network among nodes.
//
// N nodes of g GPUs, n = N g; S = size as nccl-tests prints it (collective.hpp). An algorithm is a pipeline of hops; of
// the message it sends `share` S over the busiest link of each tier (NVLink: one GPU, one way; network: all NICs of a
// node, one way):
//
//   algorithm  collective      hops NVLink       hops network    share NVLink   share network
//   ring       all_reduce      2 (n-1) - net     2 (n-1) N/n *   2 (n-1)/n      2 (n-1)/n *
//   ring       all_gather and reduce_scatter: half of these
//   tree       all_reduce      2 (g-1)           2 ceil(log2 N)  2 (g-1)/g      0, 1, 2 for N = 1, 2, more
//   nvls       all_reduce      2                 2 ceil(log2 N)  1              0, 1, 2 for N = 1, 2, more
//   direct     all_to_all      g-1               n-g             (g-1)/n        g (n-g)/n
//   * 0 for N = 1
//
// A ring enters and leaves each node once. Trees: a chain in each node and two complementary binary trees among nodes
// (Sanders, Speck, Traff 2009), each with half of the data. Of two nodes each is the root of one tree and the leaf of
// the other and sends S; of more, an inner node sends half of S up, all of it down to two children, and as the other
// tree's leaf half of it up: 2 S. NVLS: the NVSwitch reduces and multicasts, so a node is two hops and sends S once;
// among nodes the same trees (NVLSTree).
//
//   t    = launch + hops_nvlink hop_nvlink + hops_network hop_network + chunk fill
//          + S max(share_nvlink / rate_nvlink, share_network / rate_network) + S / pass
//   fill = hops_nvlink share_nvlink / rate_nvlink + hops_network share_network / rate_network
//   chunk = min(chunk_max, sqrt(chunk_cost S / fill))
//
// chunk x fill: the last chunk leaves the pipeline so much later than it would leave a hop. The chunk is that of least
// time, S / chunk chunks each costing chunk_cost against the filling (van de Geijn, 1991), up to the library's buffers;
// chunk_cost is an effective one, of both halves of that trade. Rings are cut finely by their n parts and have no
// chunk. `pass`: reading and writing the own buffer beside the links.
//
// Protocols: `ll` flags every word and costs little per hop and much per byte; `simple` synchronises per chunk. Each is
// a set of costs of its own, and of the sets at hand the fastest runs, as NCCL's tuner chooses, unless an algorithm is
// forced (NCCL_ALGO).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/collectives/collective.hpp"

namespace rehearse {

enum class NcclAlgorithm : std::uint8_t { ring, tree, nvls, direct };
enum class NcclProtocol : std::uint8_t { ll, simple };
std::string_view name(NcclAlgorithm algorithm);
std::string_view name(NcclProtocol protocol);

struct NodeGroup {  // of GPUs that take part, as many on each node
    std::int64_t nodes = 1;
    std::int64_t gpus_per_node = 8;
    std::int64_t members() const { return nodes * gpus_per_node; }
};

struct NcclTier {
    SimDuration hop;
    Bandwidth rate;  // 0: the tier doesn't bound this algorithm
};

struct NcclCosts {  // of one algorithm under one protocol
    NcclAlgorithm algorithm = NcclAlgorithm::ring;
    NcclProtocol protocol = NcclProtocol::simple;
    SimDuration launch;
    NcclTier nvlink, network;
    Bandwidth pass;  // 0: hidden beside the links
    Bytes chunk_max;
    SimDuration chunk_cost;
};

struct NcclShape {
    double hops_nvlink = 0, hops_network = 0;
    double share_nvlink = 0, share_network = 0;
};
// Nothing where the algorithm has no such collective. InvariantBroken for a group without members.
std::optional<NcclShape> nccl_shape(CollectiveKind kind, NcclAlgorithm algorithm, const NodeGroup& group);

// Seconds. InvariantBroken where nccl_shape() has nothing or size < 0. A group of one takes the launch.
double nccl_seconds(const NcclCosts& costs, CollectiveKind kind, const NodeGroup& group, Bytes size);

struct NcclChoice {
    double seconds = 0;
    const NcclCosts* costs = nullptr;  // into the sets
};
// The fastest of the sets that have the collective, of `forced` only where one is. InvariantBroken where none has it.
NcclChoice nccl_fastest(std::span<const NcclCosts> sets, CollectiveKind kind, const NodeGroup& group, Bytes size,
                        std::optional<NcclAlgorithm> forced = {});

}  // namespace rehearse

// The flow-level workloads that other simulators have published figures for: permutations and all-to-all on D-mod-k fat
// trees. Written out here, apart from topology/, so that the solver can be measured and checked alone.
//
// A tree has `half` hosts per edge switch, `half` edge and `half` aggregation switches per pod and half x half core
// switches. Every link carries 50e9 B/s and takes 500 ns. D-mod-k: edge -> aggregation port = dst mod half, aggregation
// -> core port = (dst div half) mod half.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "models/network/flow/flow_network.hpp"
#include "sim/base/rng.hpp"

namespace rehearse::bench {

inline constexpr double link_rate = 50e9;
inline constexpr SimDuration link_latency = nanoseconds(500);

struct FatTree {
    std::uint32_t half;
    std::uint32_t pods;

    std::uint32_t hosts() const { return half * half * pods; }
    // Six blocks of `hosts` links: host up and down, edge up and down, aggregation up and down.
    std::uint32_t link_count() const { return 6 * hosts(); }
    void path(std::uint32_t source, std::uint32_t destination, std::vector<WeightedLink>& out) const {
        const std::uint32_t n = hosts(), a = destination % half, c = destination / half % half;
        const std::uint32_t edge_s = source / half, edge_d = destination / half;
        const std::uint32_t pod_s = edge_s / half, pod_d = edge_d / half;
        out.clear();
        out.push_back({LinkId{source}});
        if (edge_s != edge_d) {
            out.push_back({LinkId{2 * n + edge_s * half + a}});
            if (pod_s != pod_d) {
                out.push_back({LinkId{4 * n + (pod_s * half + a) * half + c}});
                out.push_back({LinkId{5 * n + (pod_d * half + a) * half + c}});
            }
            out.push_back({LinkId{3 * n + edge_d * half + a}});
        }
        out.push_back({LinkId{n + destination}});
    }
};

struct HostFlow {
    std::uint32_t source;
    std::uint32_t destination;
    double bytes;
};

// Sattolo's cycle over splitmix64(seed): flow i goes i -> p[i].
inline std::vector<HostFlow> permutation(std::uint32_t hosts, double bytes, std::uint64_t seed) {
    std::vector<std::uint32_t> to(hosts);
    std::iota(to.begin(), to.end(), 0U);
    for (std::uint32_t i = hosts - 1; i > 0; --i) std::swap(to[i], to[splitmix64(seed) % i]);
    std::vector<HostFlow> flows;
    for (std::uint32_t i = 0; i < hosts; ++i) flows.push_back({i, to[i], bytes});
    return flows;
}

// Members 0, stride, 2 stride, ...; every ordered pair.
inline std::vector<HostFlow> all_to_all(std::uint32_t hosts, std::uint32_t members, double bytes) {
    const std::uint32_t stride = hosts / members;
    std::vector<HostFlow> flows;
    flows.reserve(static_cast<std::size_t>(members) * (members - 1));
    for (std::uint32_t i = 0; i < members; ++i) {
        for (std::uint32_t d = 1; d < members; ++d) flows.push_back({i * stride, (i + d) % members * stride, bytes});
    }
    return flows;
}

// Sizes times 1 + 0.1 u, u in [-1, 1) from splitmix64(7) in flow order, cut to whole bytes.
inline std::vector<HostFlow> jittered(std::vector<HostFlow> flows) {
    std::uint64_t state = 7;
    for (HostFlow& flow : flows) {
        const double u = static_cast<double>(splitmix64(state) >> 11) / 9007199254740992.0 * 2 - 1;
        flow.bytes = static_cast<double>(static_cast<std::int64_t>(flow.bytes * (1 + 0.1 * u)));
    }
    return flows;
}

// All flows begin at 0 and move after their path latency.
inline void start_flows(FlowNetwork& network, const FatTree& tree, const std::vector<HostFlow>& flows) {
    std::vector<WeightedLink> path;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        tree.path(flows[f].source, flows[f].destination, path);
        const SimDuration latency = link_latency * static_cast<std::int64_t>(path.size());
        network.start(SimTime{0} + latency, flows[f].bytes, {path}, {f});
    }
}

// Completion times in picoseconds, in flow order.
inline std::vector<std::int64_t> finish_flows(FlowNetwork& network, std::size_t count) {
    std::vector<FlowNetwork::Ended> ended;
    ended.reserve(count);
    network.advance(SimTime{INT64_MAX - 1}, ended);
    std::vector<std::int64_t> times(count);
    for (const FlowNetwork::Ended& end : ended) times[end.token] = end.at.value;
    return times;
}

inline std::vector<std::int64_t> run_flows(FlowNetwork& network, const FatTree& tree,
                                           const std::vector<HostFlow>& flows) {
    start_flows(network, tree, flows);
    return finish_flows(network, flows.size());
}

struct FlowTimes {
    double min, mean, p50, p99, max;  // seconds
};

inline FlowTimes summarise(std::vector<std::int64_t> times) {
    std::sort(times.begin(), times.end());
    double sum = 0;
    for (const std::int64_t t : times) sum += static_cast<double>(t) * 1e-12;
    const std::size_t n = times.size();
    const auto at = [&](std::size_t i) { return static_cast<double>(times[i]) * 1e-12; };
    return {at(0), sum / static_cast<double>(n), at(n / 2), at(n * 99 / 100), at(n - 1)};
}

}  // namespace rehearse::bench

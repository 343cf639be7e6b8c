// Up-down routing with ECMP. A route climbs to the lowest tier that joins source and destination and descends; where
// several links are equally short, a hash of the flow key picks one, as a switch does.
//
// A switch of a regular fabric needs no table of destinations: its down-link follows from the place of the destination
// (at a ToR its host, at an aggregation switch its ToR, at a core its pod) and every other destination is up. The state
// is one row per switch; parallel links to one neighbour form an ECMP group too.
//
// A fat tree always routes by D-mod-k: edge port = destination mod k/2, aggregation port = (destination div k/2) mod
// k/2. A clos with tiers 3, rails 1, one NIC, switch_ports k, hosts_per_tor_set and tor_sets_per_pod k/2, port_split
// off is the same tree with ECMP.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/cluster.hpp"
#include "topology/ecmp_hash.hpp"

namespace rehearse {

struct EcmpSpec {
    HashFunction hash = HashFunction::crc32;
    HashSeedScope seed_scope = HashSeedScope::per_switch;
    HashWindow window = HashWindow::per_tier;
    std::int64_t queue_pairs = 1;  // QPs per connection: a transfer is split over that many flow keys
};

struct FlowKey {
    GpuId source;
    GpuId destination;
    std::uint32_t queue_pair = 0;
};

// A route has at most 10 links (PXN: 2 NVLink, then PCIe, host, 2 up, 2 down, host, PCIe).
class Path {
public:
    void push(LinkId link) { links_[size_++] = link; }
    std::span<const LinkId> links() const& { return {links_, size_}; }
    std::span<const LinkId> links() const&& = delete;  // the span would outlive the path

private:
    LinkId links_[12];
    std::size_t size_ = 0;
};

class Router {
public:
    // Keeps a reference to the cluster, which must outlive the router. `seed` draws the hash seeds of the switches and
    // the UDP source port of every queue pair. O(switches) time and memory.
    Router(const Cluster& cluster, EcmpSpec ecmp, std::uint64_t seed);

    // GPUs of one node talk over NVLink. Between nodes the flow leaves through the source GPU's NIC and enters through
    // the destination GPU's NIC; in a rail-only fabric it first crosses NVLink to the GPU on the destination's rail
    // (PXN). Empty when source and destination are one GPU. Does not allocate.
    Path route(const FlowKey& key) const;

    // The links among which `at` chooses for this destination (the ECMP group), in port order. `at` is a vertex on an
    // up-down route to the destination; empty when it is the destination.
    std::span<const LinkId> next_hops(VertexId at, GpuId destination) const;

    const Cluster& cluster() const { return *cluster_; }
    const EcmpSpec& ecmp() const { return ecmp_; }

private:
    struct SwitchRow {
        std::uint32_t first_down = 0;  // LinkId of the first down-link; children in order, parallel links side by side
        std::uint32_t first_up = 0;
        std::uint32_t hash_seed = 0;  // of a linear hash: the constant that the seed XORs into every value
    };
    struct Header {  // what the switches see of a flow
        HashKey key;
        std::uint32_t unseeded = 0;     // value of a linear hash with seed 0, the same at every switch
        std::uint32_t destination = 0;  // NIC, for d_mod_k
    };
    struct Group {  // an ECMP group: links first .. first + count - 1
        std::uint32_t first;
        std::uint32_t count;
    };
    struct Target {  // where a GPU hangs
        std::uint32_t node, local, nic, rail, tor, tor_port, group, child;
    };
    enum class Role : std::uint8_t { tor, aggregation, core };

    Target target_of(GpuId gpu) const;
    Group at_host(VertexId at, const Target& to) const;
    Group at_tor(std::uint32_t tor, const Target& to) const;
    Group at_aggregation(std::uint32_t index, const Target& to) const;
    Group at_core(std::uint32_t index, const Target& to) const;
    Header header_of(const FlowKey& key, const Target& from, const Target& to) const;
    std::uint32_t pick(Role role, std::uint32_t row, std::uint32_t count, const Header& header) const;
    void cross_fabric(const Target& from, const Target& to, const Header& header, Path& path) const;
    LinkId host_link(std::uint32_t node, std::uint32_t offset) const { return LinkId{node * links_per_host_ + offset}; }
    std::uint16_t source_port(const FlowKey& key) const;
    void fill_host_offsets();
    void fill_switch_rows();

    const Cluster* cluster_;
    EcmpSpec ecmp_;
    std::uint64_t port_seed_;
    bool linear_hash_ = false;
    std::uint32_t tor_rows_, core_rows_;  // row of aggregation switch 0, of core 0
    std::vector<SwitchRow> rows_;         // ToRs, aggregation switches, cores
    // Every host has the same links; these are their offsets in the host's block of LinkIds.
    std::uint32_t links_per_host_ = 0;
    std::vector<std::uint32_t> nvlink_up_, nvlink_down_, pcie_up_, pcie_down_;  // by GPU in the host
    std::vector<std::uint32_t> host_up_;                                        // by NIC in the host
};

}  // namespace rehearse

// What a fabric is asked to be. Plain data: read by scenarios/, checked by validate_cluster(), built by
// build_cluster().
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace rehearse {

enum class FabricKind : std::uint8_t {
    clos,       // rail ToRs, aggregation switches per pod, core planes (tiers 2 or 3)
    rail_only,  // rail switches without anything that joins two rails
    fat_tree,   // k-ary fat tree, one NIC per host, D-mod-k routing
};

// Every default below is the MegaScale cluster (NSDI'24, section 3.6 and our reading of the pod size, see README.md).
struct FabricSpec {
    FabricKind kind = FabricKind::clos;
    std::int64_t tiers = 3;          // clos: 2 (ToR, aggregation) or 3 (plus core)
    std::int64_t rails = 8;          // ToRs per ToR set
    std::int64_t switch_ports = 64;  // Tomahawk 4: 64 x 400G
    Bandwidth switch_port_rate = gigabits_per_second(400);
    bool port_split = true;                         // each ToR down port of 400G serves two NICs of 200G
    std::int64_t hosts_per_tor_set = 0;             // 0 = half the ToR's ports: 64 hosts split, 32 unsplit
    std::int64_t tor_sets_per_pod = 4;              // assumed: 32 ToRs + 32 aggregation switches per pod
    Ratio oversubscription{1.0};                    // down capacity / up capacity at the ToR; 1 = 1:1
    std::int64_t fat_tree_k = 8;                    // fat_tree: ports per switch; k/2 hosts per edge switch
    std::int64_t fat_tree_pods = 0;                 // fat_tree: pods; 0 = k
    SimDuration switch_latency = nanoseconds(750);  // port to port (assumed for TH4)
    SimDuration link_latency = nanoseconds(350);    // FEC + PHY 100 ns + 50 m x 5 ns/m, each fabric link (assumed)
};

struct NodeSpec {
    std::int64_t gpus = 8;
    std::int64_t nics = 8;
    Bandwidth nvlink = gigabytes_per_second(300);  // one way per GPU: A100 300 GB/s, A800 and H800 200 GB/s
    SimDuration nvlink_latency = nanoseconds(500);
    Bandwidth nic = gigabits_per_second(200);
    SimDuration nic_latency = nanoseconds(500);  // NIC + DMA, each end (assumed)
    Bandwidth pcie = gigabytes_per_second(31);   // one way, Gen4 x16 (31.5 GB/s published); 0 = GPUs sit on the NIC
    SimDuration pcie_latency = nanoseconds(200);
};

struct ClusterSpec {
    FabricSpec fabric;
    NodeSpec node;
    std::int64_t hosts = 0;  // 0 = the whole ToR sets that the job needs
};

}  // namespace rehearse

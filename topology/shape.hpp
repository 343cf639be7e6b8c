// FabricShape: the port arithmetic of a fabric, worked out from its spec before anything is wired.
//
//     down ports of a ToR   = ceil(hosts per ToR set x NICs of a host on that ToR / NICs per port)
//     up-links of a ToR     = ceil(down ports / oversubscription)
//     aggregation switches  = up-links of a ToR / links between a ToR and each of them
//     up-links of an aggregation switch = its down-links (1:1)
//     cores per plane c     = smallest divisor of those up-links with pods x up-links / c <= switch ports
//
// README.md carries the same arithmetic with numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/fault.hpp"
#include "topology/spec.hpp"

namespace rehearse {

struct FabricShape {
    std::uint32_t hosts = 0;
    std::uint32_t gpus_per_host = 1;
    std::uint32_t nics_per_host = 1;
    std::uint32_t nvlink_switches_per_host = 0;  // 0 when a host has one GPU
    std::uint32_t nic_vertices_per_host = 0;     // 0 when GPUs sit on the NIC (node.pcie = 0)
    Bandwidth host_link_rate;                    // NIC to ToR

    std::uint32_t rails = 1;
    std::uint32_t nics_per_tor = 1;   // NICs of one host on one ToR: NIC i goes to rail i mod rails
    std::uint32_t nics_per_port = 1;  // 2 when ports are split
    std::uint32_t hosts_per_tor_set = 0;
    std::uint32_t tor_sets = 0;  // those that hold at least one host
    std::uint32_t tor_sets_per_pod = 0;
    std::uint32_t pods = 1;
    std::uint32_t tor_down_ports = 0;
    std::uint32_t tor_up_links = 0;

    // Aggregation switches come in groups: one per pod, or one per rail in a rail-only fabric.
    std::uint32_t aggregation_groups = 0;
    std::uint32_t aggregations_per_group = 0;
    std::uint32_t tors_per_group = 0;        // children of an aggregation switch
    std::uint32_t links_per_tor = 0;         // parallel links between a ToR and each of its aggregation switches
    std::uint32_t aggregation_up_links = 0;  // 0 = no core

    std::uint32_t cores_per_plane = 0;  // as many planes as aggregation switches in a pod
    std::uint32_t links_per_core = 0;   // parallel links between an aggregation switch and each core of its plane
    bool rail_groups = false;           // aggregation groups are rails

    std::uint32_t tor_count() const;  // a part-filled last pod keeps all its switches
    std::uint32_t aggregation_count() const { return aggregation_groups * aggregations_per_group; }
    std::uint32_t core_count() const { return aggregations_per_group * cores_per_plane; }
    // ToR t = set x rails + rail. Its aggregation group, and its place among the children of that group.
    std::uint32_t group_of_tor(std::uint32_t tor) const { return rail_groups ? tor % rails : tor / tors_per_group; }
    std::uint32_t child_of_tor(std::uint32_t tor) const { return rail_groups ? tor / rails : tor % tors_per_group; }
};

// Every fault of the spec, by key ("cluster.fabric.rails"); empty = it can be wired. hosts = 0 is no fault here.
std::vector<Fault> validate_cluster(const ClusterSpec& spec);

// Throws InputError with those faults, and when a clos or rail-only fabric has no hosts.
FabricShape shape_of(const ClusterSpec& spec);

// Hosts of the whole ToR sets that a job of `gpus` GPUs needs; fat_tree: every host of the tree.
// Throws InputError for a spec with faults.
std::int64_t hosts_needed(const ClusterSpec& spec, std::int64_t gpus);

}  // namespace rehearse

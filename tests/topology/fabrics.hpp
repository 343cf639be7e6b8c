// Fabrics that several tests share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/cluster.hpp"

namespace rehearse::testing {

inline ClusterSpec clos(std::int64_t hosts) {
    ClusterSpec spec;
    spec.hosts = hosts;
    return spec;
}

// k-ary fat tree whose path latency is links x 500 ns.
inline ClusterSpec fat_tree(std::int64_t k) {
    ClusterSpec spec;
    spec.fabric.kind = FabricKind::fat_tree;
    spec.fabric.fat_tree_k = k;
    spec.fabric.switch_latency = SimDuration{0};
    spec.fabric.link_latency = nanoseconds(500);
    spec.node.gpus = spec.node.nics = 1;
    spec.node.pcie = Bandwidth{0};
    spec.node.nic = gigabits_per_second(400);
    spec.node.nic_latency = SimDuration{0};
    return spec;
}

// The same tree as a clos, routed by ECMP.
inline ClusterSpec fat_tree_with_ecmp(std::int64_t k) {
    ClusterSpec spec = fat_tree(k);
    spec.fabric.kind = FabricKind::clos;
    spec.fabric.rails = 1;
    spec.fabric.switch_ports = k;
    spec.fabric.port_split = false;
    spec.fabric.hosts_per_tor_set = spec.fabric.tor_sets_per_pod = k / 2;
    spec.hosts = k * k * k / 4;
    return spec;
}

// Small ones of every kind: the first two of pods, rails and switches that differ in shape.
inline std::vector<std::pair<std::string, ClusterSpec>> small_fabrics() {
    std::vector<std::pair<std::string, ClusterSpec>> all;
    const auto add = [&](std::string name, ClusterSpec spec) { all.emplace_back(std::move(name), spec); };
    ClusterSpec tiny = clos(13);  // 8-port switches: 4 hosts a set, 2 sets a pod, 4 pods, the last part-filled
    tiny.node.gpus = tiny.node.nics = 2;
    tiny.fabric.rails = 2;
    tiny.fabric.switch_ports = 8;
    tiny.fabric.port_split = false;
    tiny.fabric.tor_sets_per_pod = 2;
    add("tiny clos", tiny);
    ClusterSpec parallel = tiny;  // a pod of 2 ToRs: parallel links to its aggregation switches
    parallel.fabric.tor_sets_per_pod = 1;
    add("parallel links", parallel);
    ClusterSpec two_tier = tiny;
    two_tier.fabric.tiers = 2;
    add("two tiers", two_tier);
    ClusterSpec rail_only = tiny;
    rail_only.fabric.kind = FabricKind::rail_only;
    add("rail only", rail_only);
    ClusterSpec one_set = rail_only;
    one_set.hosts = 4;
    add("rail only, one set", one_set);
    ClusterSpec oversubscribed = tiny;
    oversubscribed.fabric.oversubscription = Ratio{2.0};
    add("2:1", oversubscribed);
    ClusterSpec shared = tiny;  // two GPUs share one NIC
    shared.node.nics = shared.fabric.rails = 1;
    add("shared NIC", shared);
    ClusterSpec one_rail = tiny;  // both NICs of a host on one ToR
    one_rail.fabric.rails = 1;
    add("one rail", one_rail);
    add("fat tree", fat_tree(4));
    add("fat tree with ECMP", fat_tree_with_ecmp(4));
    return all;
}

}  // namespace rehearse::testing

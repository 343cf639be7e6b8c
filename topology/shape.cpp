#include "topology/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace rehearse {
namespace {

constexpr std::int64_t count_max = 1 << 20;  // keeps every product of counts inside 64 bits and vertex ids inside 32

// All numbers as int64 while they are being worked out; FabricShape is filled once they are known to be sound.
struct Arithmetic {
    std::int64_t nics_per_tor = 1, nics_per_port = 1, hosts_per_tor_set = 0, down_ports = 0, up_links = 0;
    std::int64_t tor_sets = 0, tor_sets_per_pod = 0, pods = 1, group_tors = 0, links_per_tor = 0;
    std::int64_t aggregation_up = 0, cores_per_plane = 0;
};

class ClusterFaults {
public:
    void add(std::string_view key, std::string wrong, std::string expected, std::string todo) {
        Fault fault;
        fault.path = fmt::format("cluster.{}", key);
        fault.wrong = std::move(wrong);
        fault.expected = std::move(expected);
        fault.todo = std::move(todo);
        list_.add(std::move(fault));
    }
    void range(std::string_view key, std::int64_t value, std::int64_t low, std::int64_t high = count_max) {
        if (value < low || value > high)
            add(key, fmt::format("{} is out of range", value), fmt::format("{} to {}", low, high), "");
    }
    void positive(std::string_view key, Bandwidth rate) {
        if (rate.value <= 0) add(key, "a rate that is not positive", "for example 200 Gbps", "");
    }
    void not_negative(std::string_view key, SimDuration time) {
        if (time.value < 0) add(key, "a latency below zero", "0 or more", "");
    }
    bool empty() const { return list_.empty(); }
    const FaultList& list() const { return list_; }

private:
    FaultList list_;
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void check_node(const NodeSpec& node, ClusterFaults& faults) {
    faults.range("node.gpus", node.gpus, 1, 1024);
    faults.range("node.nics", node.nics, 1, 1024);
    faults.positive("node.nic", node.nic);
    if (node.gpus > 1) faults.positive("node.nvlink", node.nvlink);
    if (node.pcie.value < 0) faults.add("node.pcie", "a rate below zero", "0 or more", "");
    faults.not_negative("node.nvlink_latency", node.nvlink_latency);
    faults.not_negative("node.nic_latency", node.nic_latency);
    faults.not_negative("node.pcie_latency", node.pcie_latency);
    if (!faults.empty()) return;
    if (node.gpus % node.nics != 0)
        faults.add("node.nics", fmt::format("{} NICs cannot be shared evenly by {} GPUs", node.nics, node.gpus),
                   "a divisor of node.gpus", "");
    if (node.pcie.value == 0 && node.gpus != node.nics)
        faults.add("node.pcie", "GPUs that sit on the NIC need one NIC each", "a rate, or node.nics = node.gpus", "");
}

void check_fields(const ClusterSpec& spec, ClusterFaults& faults) {
    const FabricSpec& fabric = spec.fabric;
    check_node(spec.node, faults);
    faults.range("hosts", spec.hosts, 0, 1 << 17);
    faults.positive("fabric.switch_port_rate", fabric.switch_port_rate);
    faults.not_negative("fabric.switch_latency", fabric.switch_latency);
    faults.not_negative("fabric.link_latency", fabric.link_latency);
    if (fabric.kind == FabricKind::fat_tree) {
        faults.range("fabric.fat_tree_k", fabric.fat_tree_k, 2, 256);
        if (fabric.fat_tree_k % 2 != 0)
            faults.add("fabric.fat_tree_k", fmt::format("{} is odd", fabric.fat_tree_k), "an even port count", "");
        faults.range("fabric.fat_tree_pods", fabric.fat_tree_pods, 0, fabric.fat_tree_k);
        if (spec.node.nics != 1)
            faults.add("node.nics", fmt::format("{} NICs in a host of a fat tree", spec.node.nics), "1", "");
        return;
    }
    faults.range("fabric.tiers", fabric.tiers, 2, 3);
    faults.range("fabric.rails", fabric.rails, 1, 1024);
    faults.range("fabric.switch_ports", fabric.switch_ports, 2, 4096);
    faults.range("fabric.hosts_per_tor_set", fabric.hosts_per_tor_set, 0);
    faults.range("fabric.tor_sets_per_pod", fabric.tor_sets_per_pod, 1);
    const double ratio = fabric.oversubscription.value;
    if (!(ratio >= 0.01 && ratio <= 100.0))
        faults.add("fabric.oversubscription", fmt::format("{} is out of range", ratio), "0.01 to 100; 1 = 1:1", "");
    if (faults.empty() && spec.node.nics % fabric.rails != 0)
        faults.add("fabric.rails",
                   fmt::format("{} NICs cannot be wired evenly to {} rails", spec.node.nics, fabric.rails),
                   "a divisor of node.nics", "");
}

void work_out_tor(const ClusterSpec& spec, Arithmetic& a, ClusterFaults& faults) {
    const FabricSpec& fabric = spec.fabric;
    a.nics_per_tor = spec.node.nics / fabric.rails;
    a.nics_per_port = fabric.port_split ? 2 : 1;
    if (spec.node.nic.value * a.nics_per_port > fabric.switch_port_rate.value)
        faults.add("node.nic", "the NIC is faster than the ToR port that serves it",
                   fmt::format("at most {} Gbps", fabric.switch_port_rate.value / a.nics_per_port / 1'000'000'000),
                   fabric.port_split ? "set fabric.port_split: off or a faster switch_port_rate" : "");
    a.hosts_per_tor_set = fabric.hosts_per_tor_set;
    if (a.hosts_per_tor_set == 0) a.hosts_per_tor_set = fabric.switch_ports / 2 * a.nics_per_port / a.nics_per_tor;
    if (a.hosts_per_tor_set == 0)
        return faults.add("fabric.rails", "one host needs more ports than half a ToR has", "more rails", "");
    a.down_ports = divide_up(a.hosts_per_tor_set * a.nics_per_tor, a.nics_per_port);
    const double up = std::ceil(static_cast<double>(a.down_ports) / fabric.oversubscription.value - 1e-9);
    a.up_links = std::max<std::int64_t>(1, static_cast<std::int64_t>(up));
    if (a.down_ports + a.up_links > fabric.switch_ports)
        faults.add(
            "fabric.hosts_per_tor_set",
            fmt::format("{} hosts take {} down ports and {} up-links", a.hosts_per_tor_set, a.down_ports, a.up_links),
            fmt::format("at most {} ports in all", fabric.switch_ports),
            "lower hosts_per_tor_set or raise oversubscription");
}

// As many parallel links as the ports allow, in powers of two: fewer and fuller aggregation switches.
void work_out_aggregation(const ClusterSpec& spec, Arithmetic& a, ClusterFaults& faults) {
    const FabricSpec& fabric = spec.fabric;
    const bool rail_only = fabric.kind == FabricKind::rail_only;
    const bool has_core = !rail_only && fabric.tiers == 3;
    a.tor_sets = std::max<std::int64_t>(1, divide_up(spec.hosts, a.hosts_per_tor_set));
    a.tor_sets_per_pod = has_core ? fabric.tor_sets_per_pod : a.tor_sets;
    a.pods = divide_up(a.tor_sets, a.tor_sets_per_pod);
    a.group_tors = a.tor_sets_per_pod * (rail_only ? 1 : fabric.rails);
    if (rail_only && a.tor_sets == 1) a.up_links = 0;  // a rail is one switch
    const std::int64_t ports = has_core ? fabric.switch_ports / 2 : fabric.switch_ports;
    if (a.group_tors > ports)
        return faults.add(has_core ? "fabric.tor_sets_per_pod" : "hosts",
                          fmt::format("{} ToRs under one aggregation switch", a.group_tors),
                          fmt::format("at most {}", ports),
                          has_core ? "make the pod smaller" : "use tiers: 3 or fewer hosts");
    a.links_per_tor = 1;
    while (a.up_links > 0 && a.up_links % (2 * a.links_per_tor) == 0 && a.group_tors * 2 * a.links_per_tor <= ports)
        a.links_per_tor *= 2;
}

void work_out_core(const ClusterSpec& spec, Arithmetic& a, ClusterFaults& faults) {
    if (a.pods == 1) return;
    a.aggregation_up = a.group_tors * a.links_per_tor;
    for (std::int64_t cores = 1; cores <= a.aggregation_up; ++cores) {
        if (a.aggregation_up % cores != 0 || a.pods * a.aggregation_up / cores > spec.fabric.switch_ports) continue;
        a.cores_per_plane = cores;
        return;
    }
    faults.add("hosts",
               fmt::format("{} pods do not fit the {} ports of a core switch", a.pods, spec.fabric.switch_ports),
               fmt::format("at most {} hosts", spec.fabric.switch_ports * a.tor_sets_per_pod * a.hosts_per_tor_set),
               "use fewer hosts, larger pods or switches with more ports");
}

void work_out_fat_tree(const ClusterSpec& spec, Arithmetic& a, ClusterFaults& faults) {
    const std::int64_t half = spec.fabric.fat_tree_k / 2;
    a.hosts_per_tor_set = a.down_ports = a.up_links = a.tor_sets_per_pod = a.group_tors = half;
    a.pods = spec.fabric.fat_tree_pods == 0 ? spec.fabric.fat_tree_k : spec.fabric.fat_tree_pods;
    a.tor_sets = a.pods * half;
    a.links_per_tor = 1;
    a.aggregation_up = a.pods > 1 ? half : 0;
    a.cores_per_plane = a.pods > 1 ? half : 0;
    if (spec.hosts > a.tor_sets * half)
        faults.add("hosts", fmt::format("{} hosts in a fat tree with room for {}", spec.hosts, a.tor_sets * half),
                   "0 = as many as fit", "");
    if (spec.node.nic > spec.fabric.switch_port_rate)
        faults.add("node.nic", "the NIC is faster than the switch port", "at most fabric.switch_port_rate", "");
}

Arithmetic work_out(const ClusterSpec& spec, ClusterFaults& faults) {
    Arithmetic a;
    check_fields(spec, faults);
    if (!faults.empty()) return a;
    if (spec.fabric.kind == FabricKind::fat_tree) {
        work_out_fat_tree(spec, a, faults);
        return a;
    }
    work_out_tor(spec, a, faults);
    if (faults.empty()) work_out_aggregation(spec, a, faults);
    if (faults.empty()) work_out_core(spec, a, faults);
    return a;
}

std::uint32_t narrow(std::int64_t value) { return static_cast<std::uint32_t>(value); }

void fill_fabric(const ClusterSpec& spec, const Arithmetic& a, FabricShape& shape) {
    shape.rail_groups = spec.fabric.kind == FabricKind::rail_only;
    shape.rails = spec.fabric.kind == FabricKind::fat_tree ? 1 : narrow(spec.fabric.rails);
    shape.nics_per_tor = narrow(a.nics_per_tor);
    shape.nics_per_port = narrow(a.nics_per_port);
    shape.hosts_per_tor_set = narrow(a.hosts_per_tor_set);
    shape.tor_sets = narrow(a.tor_sets);
    shape.tor_sets_per_pod = narrow(a.tor_sets_per_pod);
    shape.pods = narrow(a.pods);
    shape.tor_down_ports = narrow(a.down_ports);
    shape.tor_up_links = narrow(a.up_links);
    shape.tors_per_group = narrow(a.group_tors);
    shape.links_per_tor = narrow(a.links_per_tor);
    shape.aggregations_per_group = narrow(a.up_links / a.links_per_tor);
    shape.aggregation_groups = shape.rail_groups ? shape.rails : shape.pods;
    shape.aggregation_up_links = narrow(a.aggregation_up);
    shape.cores_per_plane = narrow(a.cores_per_plane);
    shape.links_per_core = a.cores_per_plane == 0 ? 0 : narrow(a.aggregation_up / a.cores_per_plane);
}

}  // namespace

std::uint32_t FabricShape::tor_count() const { return pods * tor_sets_per_pod * rails; }

std::vector<Fault> validate_cluster(const ClusterSpec& spec) {
    ClusterFaults faults;
    work_out(spec, faults);
    return faults.list().faults();
}

FabricShape shape_of(const ClusterSpec& spec) {
    ClusterFaults faults;
    const Arithmetic a = work_out(spec, faults);
    if (faults.empty() && spec.hosts == 0 && spec.fabric.kind != FabricKind::fat_tree)
        faults.add("hosts", "a fabric without hosts", "1 or more", "set hosts, or job.gpus to derive them");
    faults.list().throw_if_any();
    FabricShape shape;
    shape.hosts = narrow(spec.hosts == 0 ? a.tor_sets * a.hosts_per_tor_set : spec.hosts);
    shape.gpus_per_host = narrow(spec.node.gpus);
    shape.nics_per_host = narrow(spec.node.nics);
    shape.nvlink_switches_per_host = spec.node.gpus > 1 ? 1 : 0;
    shape.nic_vertices_per_host = spec.node.pcie.value > 0 ? shape.nics_per_host : 0;
    shape.host_link_rate = spec.node.nic;
    fill_fabric(spec, a, shape);
    return shape;
}

std::int64_t hosts_needed(const ClusterSpec& spec, std::int64_t gpus) {
    ClusterFaults faults;
    const Arithmetic a = work_out(spec, faults);
    if (faults.empty()) faults.range("hosts", gpus, 1, std::int64_t{1} << 30);
    faults.list().throw_if_any();
    if (spec.fabric.kind == FabricKind::fat_tree) return a.tor_sets * a.hosts_per_tor_set;
    return divide_up(divide_up(gpus, spec.node.gpus), a.hosts_per_tor_set) * a.hosts_per_tor_set;
}

}  // namespace rehearse

#include <fmt/format.h>

#include <cmath>

#include "scenarios/reading/check_parts.hpp"
#include "topology/shape.hpp"

namespace rehearse {

namespace {

// A tensor group that leaves its node talks over NICs, an order of magnitude slower than NVLink.
void warn_local_group(const ParallelSpec& parallel, std::int64_t node_gpus, Findings& findings) {
    std::int64_t stride = 1;
    for (Dimension dimension : parallel.rank_order) {
        if (dimension == Dimension::tensor) break;
        stride *= dimension == Dimension::context ? parallel.context
                  : dimension == Dimension::data  ? parallel.data
                                                  : parallel.pipeline;
    }
    if (parallel.tensor <= 1) return;
    if (parallel.tensor > node_gpus)
        findings.warning(
            "training.parallel.tensor",
            fmt::format("a tensor group of {} GPUs is larger than the NVLink domain of {}", parallel.tensor, node_gpus),
            "its collectives cross the NICs");
    else if (stride > 1 && stride * parallel.tensor > node_gpus)
        findings.warning("job.rank_order", "the ranks of a tensor group do not share a node",
                         "put tensor first to keep them on NVLink");
}

// A ToR has whole up-links, at least one: few down ports cannot be oversubscribed as far as was asked.
void warn_oversubscription(const ClusterSpec& cluster, Findings& findings) {
    constexpr std::string_view key = "cluster.fabric.oversubscription";
    const double asked = cluster.fabric.oversubscription.value;
    if (asked == 1) return;
    if (cluster.fabric.kind == FabricKind::fat_tree)
        return findings.warning(key, "a fat tree has as much capacity up as down", "it changes nothing");
    const FabricShape shape = shape_of(cluster);
    if (shape.tor_up_links == 0)
        return findings.warning(key, "a rail of one switch has no up-links", "it changes nothing");
    const double results = static_cast<double>(shape.tor_down_ports) / static_cast<double>(shape.tor_up_links);
    if (std::abs(results / asked - 1) < 0.005) return;
    findings.warning(key, fmt::format("a ToR of {} down ports has {} up-links, so {:.4g} results and not the {:.4g} "
                                      "asked for",
                                      shape.tor_down_ports, shape.tor_up_links, results, asked),
                     "up-links are whole: give the ToR more hosts, or ask for what results");
}

}  // namespace

void check_cluster(ClusterSpec& cluster, const JobSpec& job, const ParallelSpec& parallel, Findings& findings) {
    const std::int64_t node_gpus = cluster.node.gpus;
    ClusterSpec sized = cluster;
    std::vector<Fault> faults = validate_cluster(cluster);
    if (faults.empty() && cluster.hosts == 0) {
        sized.hosts = hosts_needed(cluster, job.gpus);
        faults = validate_cluster(sized);
    }
    for (Fault& fault : faults) findings.fault(std::move(fault));
    if (job.gpus > node_gpus && job.gpus % node_gpus != 0)
        findings.fault("job.gpus", fmt::format("{} GPUs do not fill whole nodes of {}", job.gpus, node_gpus),
                       fmt::format("a multiple of {}, or at most {}", node_gpus, node_gpus),
                       fmt::format("for example {}", (job.gpus / node_gpus + 1) * node_gpus));
    if (!faults.empty()) return;
    if (sized.hosts * node_gpus < job.gpus)
        findings.fault("job.gpus",
                       fmt::format("the job needs {} GPUs, the cluster has {} hosts x {} = {}", job.gpus, sized.hosts,
                                   node_gpus, sized.hosts * node_gpus),
                       fmt::format("at most {}", sized.hosts * node_gpus),
                       cluster.hosts == 0 ? "choose a larger fabric" : "raise cluster.hosts, or leave it out");
    warn_local_group(parallel, node_gpus, findings);
    warn_oversubscription(sized, findings);
    cluster.hosts = sized.hosts;
}

void check_network(NetworkSpec& network, const FabricSpec& fabric, Findings& findings) {
    if (fabric.kind != FabricKind::fat_tree) return;
    if (findings.is_written("models.network.ecmp.hash") && network.ecmp.hash != HashFunction::d_mod_k)
        findings.warning("models.network.ecmp.hash", "a fat tree routes D-mod-k, whatever hash is asked for",
                         "leave the key out");
    network.ecmp.hash = HashFunction::d_mod_k;  // so that the resolved scenario says what ran
}

void check_slice(const ModelsSpec& models, const JobSpec& job, const NodeSpec& node, Findings& findings) {
    constexpr std::string_view key = "models.network.slice";
    const SliceSpec& slice = models.slice;
    if (slice.is_bounded() && models.network.fidelity != Fidelity::packet)
        findings.fault(key, "only packet fidelity takes a slice of the traffic", "models.network.fidelity: packet",
                       "add --fidelity packet");
    if (slice.ranks && slice.ranks->last >= job.gpus)
        findings.fault(key, fmt::format("the slice ends at rank {}, the job has {}", slice.ranks->last, job.gpus),
                       fmt::format("ranks 0-{}", job.gpus - 1));
    if (models.network.fidelity == Fidelity::packet && node.pcie.value > 0 && node.pcie < node.nic)
        findings.warning("cluster.node.pcie", "PCIe is slower than the NIC, and packets do not wait for it",
                         "at packet fidelity steps come out too fast");
}

}  // namespace rehearse

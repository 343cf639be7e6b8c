#include <fmt/format.h>

#include "scenarios/read_parts.hpp"
#include "scenarios/words.hpp"
#include "sim/base/nearest.hpp"

namespace rehearse {

namespace {

void read_flag(Reader& reader, std::string_view key, bool& value) {
    Switch state = value ? Switch::on : Switch::off;
    reader.read(key, state);
    value = is_on(state);
}

// The chip's name sets ports and rate; keys of their own may still replace them.
void read_switch(Reader& fabric, FabricSpec& spec) {
    std::string chip;
    fabric.read("switch", chip);
    if (chip.empty() || chip == "custom") return;
    std::vector<std::string> known{"custom"};
    for (const SwitchChip& candidate : switch_chips) {
        if (candidate.name == chip) {
            spec.switch_ports = candidate.ports;
            spec.switch_port_rate = candidate.port_rate;
            return;
        }
        known.emplace_back(candidate.name);
    }
    const std::string near = nearest_word(chip, known);
    fabric.fault("switch", fmt::format("{} is no switch we know", in_quotes(chip)),
                 fmt::format("{}", fmt::join(known, ", ")),
                 near.empty() ? "give switch_ports and switch_port_rate" : fmt::format("did you mean \"{}\"?", near));
}

void read_fabric(Reader fabric, FabricSpec& spec) {
    fabric.read_enum("kind", spec.kind, fabric_kind_words);
    fabric.read("tiers", spec.tiers);
    fabric.read("rails", spec.rails);
    read_switch(fabric, spec);
    fabric.read("switch_ports", spec.switch_ports);
    fabric.read("switch_port_rate", spec.switch_port_rate);
    read_flag(fabric, "port_split", spec.port_split);
    fabric.read("hosts_per_tor_set", spec.hosts_per_tor_set);
    fabric.read("tor_sets_per_pod", spec.tor_sets_per_pod);
    fabric.read("oversubscription", spec.oversubscription);
    fabric.read("fat_tree_k", spec.fat_tree_k);
    fabric.read("fat_tree_pods", spec.fat_tree_pods);
    fabric.read("switch_latency", spec.switch_latency);
    fabric.read("link_latency", spec.link_latency);
    fabric.finish();
}

void read_node(Reader node, NodeSpec& spec) {
    node.read("gpus", spec.gpus, at_least(1));
    node.read("nics", spec.nics, at_least(1));
    node.read("nvlink", spec.nvlink);
    node.read("nvlink_latency", spec.nvlink_latency);
    node.read("nic", spec.nic);
    node.read("nic_latency", spec.nic_latency);
    node.read("pcie", spec.pcie);
    node.read("pcie_latency", spec.pcie_latency);
    node.finish();
}

}  // namespace

void read_cluster(Reader cluster, ClusterSpec& spec) {
    read_fabric(cluster.child("fabric"), spec.fabric);
    read_node(cluster.child("node"), spec.node);
    cluster.read("hosts", spec.hosts);
    cluster.finish();
}

}  // namespace rehearse

#include "scenarios/scenario_yaml.hpp"

#include <filesystem>

#include "scenarios/words.hpp"
#include "sim/config/yaml_writer.hpp"

namespace rehearse {

namespace {

void write_fabric(YamlWriter& yaml, const FabricSpec& fabric) {
    std::string_view chip = "custom";
    for (const SwitchChip& known : switch_chips) {
        if (known.ports == fabric.switch_ports && known.port_rate == fabric.switch_port_rate) chip = known.name;
    }
    yaml.begin_map("fabric");
    yaml.value("kind", word_for(fabric_kind_words, fabric.kind));
    yaml.value("tiers", fabric.tiers);
    yaml.value("rails", fabric.rails);
    yaml.value("switch", chip);
    yaml.value("switch_ports", fabric.switch_ports);
    yaml.value("switch_port_rate", fabric.switch_port_rate);
    yaml.value("port_split", fabric.port_split ? Switch::on : Switch::off);
    yaml.value("hosts_per_tor_set", fabric.hosts_per_tor_set, "0: half the ports of a ToR");
    yaml.value("tor_sets_per_pod", fabric.tor_sets_per_pod);
    yaml.value("oversubscription", fabric.oversubscription);
    yaml.value("fat_tree_k", fabric.fat_tree_k, "kind: fat_tree only");
    yaml.value("fat_tree_pods", fabric.fat_tree_pods);
    yaml.value("switch_latency", fabric.switch_latency);
    yaml.value("link_latency", fabric.link_latency);
    yaml.end();
}

void write_cluster(YamlWriter& yaml, const ClusterSpec& cluster) {
    yaml.begin_map("cluster");
    yaml.value("hosts", cluster.hosts);
    write_fabric(yaml, cluster.fabric);
    const NodeSpec& node = cluster.node;
    yaml.begin_map("node");
    yaml.value("gpus", node.gpus);
    yaml.value("nics", node.nics);
    yaml.value("nvlink", format_byte_rate(node.nvlink), "one way, per GPU");
    yaml.value("nvlink_latency", node.nvlink_latency);
    yaml.value("nic", node.nic);
    yaml.value("nic_latency", node.nic_latency);
    yaml.value("pcie", format_byte_rate(node.pcie));
    yaml.value("pcie_latency", node.pcie_latency);
    yaml.end();
    yaml.end();
}

void write_job(YamlWriter& yaml, const Scenario& scenario) {
    yaml.begin_map("job");
    yaml.value("gpus", scenario.job.gpus);
    yaml.value("placement", word_for(placement_words, scenario.job.placement));
    std::vector<std::string> order;
    for (Dimension dimension : scenario.training.parallel.rank_order) order.emplace_back(name(dimension));
    yaml.list("rank_order", order, "fastest-varying first");
    yaml.end();
}

void write_parallel(YamlWriter& yaml, const ParallelSpec& parallel) {
    yaml.begin_map("parallel");
    yaml.value("tensor", parallel.tensor);
    yaml.value("pipeline", parallel.pipeline);
    yaml.value("virtual", parallel.virtual_stages);
    if (parallel.data > 0) yaml.value("data", parallel.data);
    yaml.value("context", parallel.context);
    yaml.value("expert", 1);
    yaml.value("sequence", parallel.sequence);
    yaml.value("zero", parallel.zero);
    yaml.end();
}

void write_technique(YamlWriter& yaml, const TechniqueSpec& technique) {
    yaml.begin_map("technique");
    yaml.value("parallel_block", technique.parallel_block);
    if (technique.window == 0) yaml.value("window", "off");
    else yaml.value("window", technique.window, "tokens");
    yaml.value("overlap_tensor", technique.overlap_tensor);
    yaml.value("overlap_pipeline", technique.overlap_pipeline);
    yaml.value("overlap_data", technique.overlap_data);
    yaml.value("operators", word_for(operator_set_words, technique.operators));
    yaml.value("overlap_input", technique.overlap_input);
    yaml.value("batch_factor", technique.batch_factor);
    yaml.end();
}

void write_training(YamlWriter& yaml, const TrainingSpec& training) {
    const ModelSpec& model = training.model;
    yaml.begin_map("training");
    yaml.begin_map("model");
    yaml.value("kind", "gpt");
    yaml.value("layers", model.layers);
    yaml.value("hidden", model.hidden);
    yaml.value("heads", model.heads);
    yaml.value("ffn", model.ffn, "0: four times hidden");
    yaml.value("vocab", model.vocab);
    yaml.value("sequence", model.sequence);
    yaml.end();
    yaml.value("batch_global", training.batch_global, "sequences");
    yaml.value("micro_batch", training.micro_batch);
    yaml.value("recompute", word_for(recompute_words, training.recompute));
    yaml.value("gradient_bytes", training.gradient_bytes);
    yaml.value("dropout", training.dropout);
    write_parallel(yaml, training.parallel);
    write_technique(yaml, training.technique);
    yaml.end();
}

// A profile of the library keeps its name; another one is named by its absolute path, for the resolved file may lie
// anywhere.
std::string portable_profile(const ModelsSpec& models) {
    if (models.profile_path.find("models/compute/profiles/" + models.profile_name + ".yaml") != std::string::npos)
        return models.profile_name;
    std::error_code failed;
    const auto absolute = std::filesystem::absolute(models.profile_path, failed);
    return failed ? models.profile_path : absolute.lexically_normal().string();
}

void write_models(YamlWriter& yaml, const ModelsSpec& models) {
    const NetworkSpec& network = models.network;
    yaml.begin_map("models");
    yaml.value("profile", portable_profile(models));
    yaml.begin_map("variation");
    const VariationSpec& variation = models.profile.variation;
    yaml.value("jitter", variation.jitter);
    yaml.value("host_tail_share", variation.host_tail_share);
    yaml.value("host_tail_slowdown", variation.host_tail_slowdown);
    yaml.value("slow_host_share", variation.slow_host_share);
    yaml.value("slow_host_slowdown", variation.slow_host_slowdown);
    yaml.end();
    yaml.begin_map("network");
    yaml.value("fidelity", word_for(fidelity_words, network.fidelity));
    yaml.value("framing", word_for(framing_words, network.framing));
    yaml.value("flow_control", word_for(flow_control_words, network.flow_control));
    yaml.value("mtu", network.mtu);
    yaml.value("coalesce", network.coalesce);
    yaml.begin_map("ecmp");
    yaml.value("hash", word_for(hash_words, network.ecmp.hash));
    yaml.value("seed_scope", word_for(hash_seed_scope_words, network.ecmp.seed_scope));
    yaml.value("window", word_for(hash_window_words, network.ecmp.window));
    yaml.value("qps", network.ecmp.queue_pairs);
    yaml.end();
    yaml.end();
    yaml.end();
}

}  // namespace

std::string scenario_yaml(const Scenario& scenario) {
    YamlWriter yaml;
    yaml.value("name", scenario.name);
    yaml.value("seed", scenario.seed);
    write_cluster(yaml, scenario.cluster);
    write_job(yaml, scenario);
    write_training(yaml, scenario.training);
    write_models(yaml, scenario.models);
    return yaml.text();
}

}  // namespace rehearse

// Every key of a scenario file, once, in the order of a resolved scenario: read_scenario() and scenario_yaml() both
// walk these lists. A visitor V has
//
//     section(key, body, required)   a map; `body` visits its keys
//     value(key, T&, KeyNote)        a number, a quantity, a Switch or text
//     rate(key, Bandwidth&)          of a link, in bits per second
//     byte_rate(key, Bandwidth&)     of a bus, in bytes per second; 0 = there is none
//     duration(key, SimDuration&)    a latency or a window
//     flag(key, bool&)
//     word(key, E&, words, required) one of words.hpp; `required` as of KeyNote
//     rare_word(key, E&, words)      as word(); the writer leaves out the first of them
//     one_or_list(key, items, body)  the keys of one item here, or a list of maps under `key`
//     list(key, items, body)         a list of maps; absent: none
//     share(key, Ratio&, most)       a ratio from 0 to `most`
//     fault(key, wrong, expected)    what no range says; never happens to the writer
//
//     part(key, is_written, body)    as section(); the writer leaves it out where `is_written` is off
//
// and a function for each key with rules of its own: chip, rank_order, replicas, window, profile, slice, trace, sweep,
// ablation.
#pragma once

#include "scenarios/reading/policy_keys.hpp"
#include "scenarios/reading/words.hpp"
#include "scenarios/scenario.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

struct KeyNote {
    IntegerRange range{};           // of integers
    std::string_view comment = "";  // behind the value in a resolved scenario
    std::string_view required = "";  // why a file must have it; "" = it has a default
};

// Upper ends far above any machine; they keep products of the counts inside their types.
inline constexpr IntegerRange count{1, std::int64_t{1} << 20};
inline constexpr IntegerRange layer_count{1, 65'535};
inline constexpr IntegerRange token_count{1, std::int64_t{1} << 24};

// Both ends allowed. Wider than any machine, and narrow enough that a step fits into simulated time (units.hpp).
template <class T>
struct QuantityRange {
    T least, most;
};
inline constexpr QuantityRange<Bandwidth> link_rates{Bandwidth{100'000'000}, gigabits_per_second(100'000)};
inline constexpr QuantityRange<Bandwidth> bus_rates{Bandwidth{800'000'000}, gigabytes_per_second(100'000)};
inline constexpr QuantityRange<SimDuration> durations{SimDuration{0}, milliseconds(100)};

template <class V>
void fabric_keys(V& v, FabricSpec& fabric) {
    v.word("kind", fabric.kind, fabric_kind_words);
    v.value("tiers", fabric.tiers);
    v.value("rails", fabric.rails);
    v.chip("switch", fabric);
    v.value("switch_ports", fabric.switch_ports);
    v.rate("switch_port_rate", fabric.switch_port_rate);
    v.flag("port_split", fabric.port_split);
    v.value("hosts_per_tor_set", fabric.hosts_per_tor_set, {.comment = "0: half the ports of a ToR"});
    v.value("tor_sets_per_pod", fabric.tor_sets_per_pod);
    v.value("oversubscription", fabric.oversubscription);
    v.value("fat_tree_k", fabric.fat_tree_k, {.comment = "kind: fat_tree only"});
    v.value("fat_tree_pods", fabric.fat_tree_pods);
    v.duration("switch_latency", fabric.switch_latency);
    v.duration("link_latency", fabric.link_latency);
}

template <class V>
void node_keys(V& v, NodeSpec& node) {
    v.value("gpus", node.gpus, {.range = at_least(1)});
    v.value("nics", node.nics, {.range = at_least(1)});
    v.byte_rate("nvlink", node.nvlink, {.comment = "one way, per GPU"});
    v.duration("nvlink_latency", node.nvlink_latency);
    v.rate("nic", node.nic);
    v.duration("nic_latency", node.nic_latency);
    v.byte_rate("pcie", node.pcie);
    v.duration("pcie_latency", node.pcie_latency);
}

template <class V>
void cluster_keys(V& v, ClusterSpec& cluster) {
    v.value("hosts", cluster.hosts);
    v.section("fabric", [&] { fabric_keys(v, cluster.fabric); });
    v.section("node", [&] { node_keys(v, cluster.node); });
}

template <class V>
void moe_model_keys(V& v, ModelSpec& model) {
    v.value("kv_heads", model.kv_heads, {.range = {0, count.max}, .comment = "0: as many as heads"});
    v.value("head_size", model.head_size, {.range = {0, 65'536}, .comment = "0: hidden / heads"});
    const auto experts = [&] {
        ExpertSpec& spec = model.experts;
        v.value("routed", spec.routed, {.range = count, .required = "a mixture of experts has some"});
        v.value("shared", spec.shared, {.range = {0, 1024}});
        v.value("top_k", spec.top_k, {.range = count});
        v.value("ffn", spec.ffn, {.range = {0, 1 << 22}, .comment = "0: as model.ffn"});
        v.value("node_limit", spec.node_limit, {.range = {0, 1024}, .comment = "nodes of a token; 0: any"});
        v.value("dense_layers", spec.dense_layers, {.range = {0, layer_count.max}});
    };
    v.section("experts", experts, "kind moe has experts");
    v.value("extra_tokens", model.extra_tokens, {.range = {0, 16}, .comment = "predicted beside the next one"});
    v.part("latent", model.latent.query_rank > 0 ? Switch::on : Switch::off, [&] {
        v.value("query_rank", model.latent.query_rank, {.range = {0, 65'536}});
        v.value("key_rank", model.latent.key_rank, {.range = {0, 65'536}});
        v.value("rope", model.latent.rope, {.range = {0, 4096}});
    });
}

template <class V>
void model_keys(V& v, ModelSpec& model) {
    constexpr std::string_view needed = "a model needs it";
    v.word("kind", model.kind, model_kind_words);
    v.value("layers", model.layers, {.range = layer_count, .required = needed});
    v.value("hidden", model.hidden, {.range = count, .required = needed});
    v.value("heads", model.heads, {.range = count, .required = needed});
    v.value("ffn", model.ffn, {.range = {0, 1 << 22}, .comment = "0: four times hidden"});
    v.value("vocab", model.vocab, {.range = token_count, .required = needed});
    v.value("sequence", model.sequence, {.range = token_count, .required = needed});
    if (model.kind == ModelKind::moe) moe_model_keys(v, model);
}

template <class V>
void parallel_keys(V& v, TrainingSpec& training) {
    ParallelSpec& parallel = training.parallel;
    v.value("tensor", parallel.tensor, {.range = count});
    v.value("pipeline", parallel.pipeline, {.range = count});
    v.value("virtual", parallel.virtual_stages, {.range = layer_count});
    v.replicas("data", parallel.data);
    v.value("context", parallel.context, {.range = count});
    v.value("expert", parallel.expert, {.range = count});
    if (training.model.kind == ModelKind::moe) {
        v.value("expert_tensor", parallel.expert_tensor, {.range = {0, count.max}, .comment = "0: as tensor"});
        v.word("attention", parallel.attention, attention_cut_words);
        v.value("last_stage_layers", parallel.last_stage_layers,
                {.range = {0, layer_count.max}, .comment = "0: as the others"});
    } else if (parallel.expert != 1) {
        v.fault("expert", "a model of kind gpt has no experts", "1");
    }
    v.rare_word("schedule", parallel.schedule, schedule_words);
    v.value("sequence", parallel.sequence);
    v.value("zero", parallel.zero, {.range = {0, 2}});
}

template <class V>
void technique_keys(V& v, TrainingSpec& training) {
    TechniqueSpec& technique = training.technique;
    if (training.model.kind == ModelKind::gpt) {
        v.value("parallel_block", technique.parallel_block);
        v.window("window", technique.window);
        v.value("overlap_tensor", technique.overlap_tensor);
    }
    v.value("overlap_pipeline", technique.overlap_pipeline);
    v.value("overlap_data", technique.overlap_data);
    v.word("operators", technique.operators, operator_set_words);
    v.value("overlap_input", technique.overlap_input);
    if (training.model.kind == ModelKind::moe) {
        v.value("overlap_operators", technique.overlap_operators);
        v.value("overlap_tiles", technique.overlap_tiles);
        v.word("exchange", technique.exchange, exchange_words);
    }
    v.value("batch_factor", technique.batch_factor, {.range = {1, 1024}});
}

template <class V>
void training_keys(V& v, TrainingSpec& training) {
    constexpr IntegerRange sequences{1, std::int64_t{1} << 30};
    v.section("model", [&] { model_keys(v, training.model); }, "what is trained");
    v.value("batch_global", training.batch_global,
            {.range = sequences, .comment = "sequences", .required = "sequences per step"});
    v.value("micro_batch", training.micro_batch, {.range = count});
    v.word("recompute", training.recompute, recompute_words);
    if (training.model.kind == ModelKind::moe) v.word("precision", training.precision, precision_words);
    v.value("gradient_bytes", training.gradient_bytes, {.range = {1, 4}});
    if (training.gradient_bytes == 3) v.fault("gradient_bytes", "no number format has 3 bytes", "1, 2 or 4");
    if (training.model.kind == ModelKind::gpt) v.value("dropout", training.dropout);
    v.section("parallel", [&] { parallel_keys(v, training); });
    v.section("technique", [&] { technique_keys(v, training); });
    if (training.model.kind != ModelKind::moe) return;
    v.section("routing", [&] { routing_keys(v, training.routing, training.model.experts.routed); });
    v.section("capacity", [&] { capacity_keys(v, training.capacity); });
}

template <class V>
void variation_keys(V& v, VariationSpec& variation) {
    v.share("jitter", variation.jitter, 10);
    v.share("host_tail_share", variation.host_tail_share, 1);
    v.share("host_tail_slowdown", variation.host_tail_slowdown, 100);
    v.share("slow_host_share", variation.slow_host_share, 1);
    v.share("slow_host_slowdown", variation.slow_host_slowdown, 100);
}

template <class V>
void network_keys(V& v, NetworkSpec& network) {
    v.word("fidelity", network.fidelity, fidelity_words);
    v.word("framing", network.framing, framing_words);
    v.word("flow_control", network.flow_control, flow_control_words);
    v.value("mtu", network.mtu);
    if (network.mtu < Bytes{256} || network.mtu > Bytes{65536})
        v.fault("mtu", "a payload of this size is no packet", "256 B to 64 KiB");
    v.duration("coalesce", network.coalesce);
    v.section("ecmp", [&] {
        v.word("hash", network.ecmp.hash, hash_words);
        v.word("seed_scope", network.ecmp.seed_scope, hash_seed_scope_words);
        v.word("window", network.ecmp.window, hash_window_words);
        v.value("qps", network.ecmp.queue_pairs, {.range = {1, 1024}});
    });
}

template <class V>
void packet_keys(V& v, PacketSpec& packet);  // packet_keys.hpp, which readers and writers include too

// The packet fabric acts on packets alone, and fills a page: flow runs do not write it unless the file did.
template <class V>
void model_network_keys(V& v, Scenario& scenario) {
    ModelsSpec& models = scenario.models;
    network_keys(v, models.network);
    v.slice("slice", models.slice);
    const bool is_packet = models.network.fidelity == Fidelity::packet;
    const bool is_written = is_packet || has_key(scenario.written, "models.network.packet");
    v.part("packet", is_written ? Switch::on : Switch::off, [&] { packet_keys(v, models.packet); });
}

template <class V>
void scenario_keys(V& v, Scenario& scenario) {
    v.value("name", scenario.name);
    v.value("seed", scenario.seed);
    v.section("cluster", [&] { cluster_keys(v, scenario.cluster); });
    const auto job = [&] {
        v.value("gpus", scenario.job.gpus, {.range = count, .required = "the job needs a size"});
        v.word("placement", scenario.job.placement, placement_words);
        v.rank_order("rank_order", scenario.training.parallel);
    };
    v.section("job", job, "job.gpus says how many GPUs train");
    v.section("training", [&] { training_keys(v, scenario.training); }, "training.model says what is trained");
    if (scenario.training.model.kind == ModelKind::moe)
        v.section("policies", [&] { policy_keys(v, scenario.policies); });
    v.section("models", [&] {
        v.profile("profile", scenario.models);
        v.section("variation", [&] { variation_keys(v, scenario.models.profile.variation); });
        v.section("network", [&] { model_network_keys(v, scenario); });
    });
    v.ablation("ablation", scenario.ablation);
}

}  // namespace rehearse

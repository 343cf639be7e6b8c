// Every key of models.network.packet acts in `rehearse net`: each is changed in a small scenario where it must matter,
// and the run is another one. A new key without a row here fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/net/idle_keys.hpp"
#include "scenarios/net/net.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "sim/config/load_config.hpp"

namespace rehearse {
namespace {

// 16 hosts of a fat tree whose switches hold little, so that buffers, pauses and marks matter.
const std::string base_yaml = R"(
cluster:
  hosts: 16
  fabric: {kind: clos, rails: 1, switch_ports: 4, port_split: off, hosts_per_tor_set: 2, tor_sets_per_pod: 2}
  node: {gpus: 1, nics: 1, nic: 400 Gbps, pcie: 0 GB/s}
net: {mix: [{pattern: incast, senders: 7, message: 1 MB}, {pattern: permutation, message: 300 kB}]}
models: {network: {ecmp: {hash: jenkins}, packet: {buffer: {pool: 3 MB}, transport: {timeout_exponent: 8}}}}
)";

const std::string root = "models.network.packet.";

ValidNetScenario scenario_of(const std::vector<std::string>& set) {
    return validate(parse_net_scenario(base_yaml, "base.yaml", set));
}

struct KeyRow {
    std::string key;                  // below models.network.packet
    std::string value;                // unlike the value before
    std::vector<std::string> before;  // what lets it act
};
void PrintTo(const KeyRow& row, std::ostream* out) { *out << row.key; }

const std::vector<std::string> cbfc{"models.network.flow_control=cbfc"};
const std::vector<std::string> loss{root + "loss.data=0.002"};
const std::vector<std::string> marks{root + "ecn={enabled: on, mark_min: 10 kB, mark_max: 50 kB}"};
const std::vector<std::string> storm{root + "faults=[{kind: pause_storm, gpu: 0, end: 3 ms}]"};
const std::vector<std::string> flap{
    root + "faults=[{kind: down, from: pod0.set0.tor0, to: node0.gpu0, begin: 20 us, end: 30 ms},"
           "{kind: down, from: pod0.agg0, to: pod0.set0.tor0, begin: 20 us}, "
           "{kind: down, from: pod0.agg1, to: pod0.set1.tor0, begin: 20 us}]"};

std::vector<std::string> with(std::vector<std::string> some, const std::vector<std::string>& more) {
    some.insert(some.end(), more.begin(), more.end());
    return some;
}

const std::vector<std::string> retry = with(loss, {root + "llr.enabled=on"});
const std::vector<std::string> hard_retry = with(retry, {root + "loss.data=0.3"});
const std::vector<std::string> dcqcn = with(marks, {root + "congestion=dcqcn"});

const KeyRow key_rows[] = {
    {"transport.recovery", "selective_repeat", loss},
    {"transport.paths", "spray", {root + "transport.recovery=selective_repeat"}},
    {"transport.flowlet_gap", "1 ns", {root + "transport={paths: flowlet, window_packets: 4}"}},
    {"transport.ack_every", "4", {}},
    {"transport.reorder_packets", "1", {root + "transport={paths: spray, recovery: selective_repeat}"}},
    {"transport.pad_last", "on", {}},
    {"transport.window_packets", "3", {}},
    {"transport.timeout_exponent", "9", {root + "loss.data=0.1"}},
    {"transport.retries", "1", {root + "loss.data=1"}},
    {"transport.adaptive_retransmission", "on", {root + "loss.data=0.2"}},
    {"transport.adaptive_base", "40 us", {root + "loss.data=0.2", root + "transport.adaptive_retransmission=on"}},
    {"buffer.bounded", "off", {}},
    {"buffer.pool", "4 MB", {}},
    {"buffer.cell", "300 B", {}},
    {"buffer.slices", "4", {}},
    {"buffer.alpha", "2", {}},
    {"buffer.reserve", "20 kB", {}},
    {"buffer.discipline", "fair", {}},
    {"pfc.headroom", "200 kB", {}},
    {"pfc.headroom_set", "sonic_th5", {root + "buffer.pool=20 MB"}},
    {"switching", "cut_through", {}},
    {"pfc.resume_offset", "40 kB", {}},
    {"pfc.response_quanta", "10", {}},
    {"pfc.pause_quanta", "100", {}},
    {"pfc.watchdog", "100 us", storm},
    {"pfc.watchdog_restore", "6 ms", with(storm, {root + "pfc.watchdog=100 us"})},
    {"cbfc.credit", "2 KiB", cbfc},
    {"cbfc.buffer", "40 kB", cbfc},
    {"cbfc.update_spacing", "20 kB", cbfc},
    {"cbfc.repair", "30 us", with(cbfc, loss)},
    {"cbfc.update_loss", "0.2", cbfc},
    {"llr.enabled", "on", loss},
    {"llr.ack_spacing", "16 kB", retry},
    {"llr.response", "3 us", retry},
    {"llr.replay_timer", "90 us", hard_retry},
    {"llr.replays_max", "1", hard_retry},
    {"llr.flush", "best_effort", with(hard_retry, {root + "llr.replays_max=1"})},
    {"llr.replay_buffer", "20 kB", retry},
    {"ecn.enabled", "on", {root + "ecn={mark_min: 10 kB, mark_max: 50 kB}", root + "congestion=megascale"}},
    {"ecn.mark_min", "30 kB", dcqcn},
    {"ecn.mark_max", "80 kB", dcqcn},
    {"ecn.mark_probability", "0.9", dcqcn},
    {"loss.data", "0.01", {}},
    {"loss.control", "0.01", {}},
    {"loss.burst", "8", {root + "loss.data=0.02"}},
    {"loss.bit_error_ratio", "0.002", {}},
    {"loss.fec", "rs_272_258", {root + "loss.bit_error_ratio=0.0005"}},
    {"detection.mode", "asic_local", flap},
    {"detection.detect", "1 ms", with(flap, {root + "detection.react=30 us"})},
    {"detection.react", "30 us", flap},
    {"congestion", "swift", {}},
    {"dcqcn", "connectx", dcqcn},
    {"cnp_delay", "30 us", dcqcn},
    {"cnp_gap", "5 us", dcqcn},
    {"classes", "4", {root + "buffer.pool=9 MB"}},
};

std::vector<std::string> keys_below(const ConfigNode& node, const std::string& path) {
    std::vector<std::string> keys;
    if (node.kind == ConfigNode::Kind::scalar) keys.push_back(path);
    for (const ConfigEntry& entry : node.entries) {
        const auto below = keys_below(entry.value, path.empty() ? entry.key : path + "." + entry.key);
        keys.insert(keys.end(), below.begin(), below.end());
    }
    return keys;
}

TEST(PacketKeys, EveryKeyHasARow) {
    const ConfigNode resolved = parse_config(scenario_yaml(scenario_of({}).plain()), "resolved.yaml");
    const ConfigNode* const packet = resolved.find("models")->find("network")->find("packet");
    std::vector<std::string> rows;
    for (const KeyRow& row : key_rows) rows.push_back(row.key);
    EXPECT_THAT(rows, ::testing::UnorderedElementsAreArray(keys_below(*packet, "")));
}

class PacketKeyTest : public ::testing::TestWithParam<KeyRow> {};

// The event stream differs, or (ecn, classes of buffers) its counters do.
std::string what_happened(const NetOutcome& outcome) {
    std::string text = std::to_string(outcome.record.fingerprint) + " " + std::to_string(outcome.record.events);
    for (const PortCounters& port : outcome.record.links)
        for (const std::uint64_t count : {port.bytes, port.data, port.control, port.pauses, port.marks, port.replays})
            text += "," + std::to_string(count);
    return text;
}

TEST_P(PacketKeyTest, Acts) {
    const KeyRow& row = GetParam();
    std::vector<std::string> set = row.before;
    const ValidNetScenario before = scenario_of(set);
    set.push_back(root + row.key + "=" + row.value);
    const ValidNetScenario after = scenario_of(set);
    for (const std::string& warning : after.warnings())
        EXPECT_EQ(warning.find(root + row.key + ":"), warning.npos) << warning;
    EXPECT_NE(what_happened(study(before)), what_happened(study(after)));
}

INSTANTIATE_TEST_SUITE_P(Table, PacketKeyTest, ::testing::ValuesIn(key_rows),
                         [](const ::testing::TestParamInfo<KeyRow>& row) {
                             std::string name = row.param.key;
                             std::replace(name.begin(), name.end(), '.', '_');
                             return name;
                         });

// The same keys without what lets them act: the tool says so, and the run is the one without them.
TEST(PacketKeys, WhatHasNoEffectIsSaid) {
    const std::string plain = what_happened(study(scenario_of({})));
    std::size_t said = 0;
    for (const KeyRow& row : key_rows) {
        if (row.before.empty()) continue;
        std::vector<std::string> warnings;
        const std::string set = root + row.key + "=" + row.value;
        try {
            const ValidNetScenario scenario = scenario_of({set});
            warnings = scenario.warnings();
            if (warnings.empty() || warnings.front().find("no effect") == std::string::npos) continue;  // it acts
            EXPECT_EQ(plain, what_happened(study(scenario))) << row.key;
        } catch (const InputError& error) {
            warnings.emplace_back(error.what());
        }
        EXPECT_THAT(warnings.front(), ::testing::HasSubstr(root + row.key));
        ++said;
    }
    EXPECT_GE(said, 25U);
}

// Kinds of faults, each with every key of its own.
TEST(PacketKeys, EveryKindOfFaultActs) {
    const std::string plain = what_happened(study(scenario_of({})));
    for (const std::string fault :
         {"{kind: down, from: pod0.set0.tor0, to: node0.gpu0, parallel: 0, begin: 5 us, end: 100 us}",
          "{kind: flap, from: pod0.set0.tor0, to: node0.gpu0, begin: 5 us, down_for: 10 us, period: 20 us, times: 3}",
          "{kind: slow, from: pod0.set0.tor0, to: node0.gpu0, rate_share: 0.25}",
          "{kind: lossy, from: pod0.set0.tor0, to: node0.gpu0, data: 0.01, burst: 3}",
          "{kind: lossy, from: node0.gpu0, to: pod0.set0.tor0, control: 0.1}",
          "{kind: lossy, from: pod0.set0.tor0, to: node0.gpu0, bit_error_ratio: 0.0005, fec: rs_528_514}",
          "{kind: dead_switch, switch: pod0.agg0, begin: 10 us, end: 200 us}",
          "{kind: pause_storm, gpu: 0, traffic_class: 1, begin: 10 us, end: 300 us}"}) {
        const ValidNetScenario scenario = scenario_of({root + "faults=[" + fault + "]"});
        EXPECT_NE(plain, what_happened(study(scenario))) << fault;
        const NetScenario again = parse_net_scenario(scenario_yaml(scenario.plain()), "resolved.yaml", {});
        EXPECT_EQ(scenario_yaml(again), scenario_yaml(scenario.plain())) << fault;
    }
}

}  // namespace
}  // namespace rehearse

// Which logs belong together: index.csv of the data folder names their sites, networks and settings.
#include "scenarios/validation/nccl_clusters.hpp"

#include <fmt/format.h>

#include <cmath>

namespace rehearse {

namespace {

using enum NcclAlgorithm;
using enum NcclProtocol;
using enum NcclParameter;

constexpr Bytes mebibyte{1 << 20};
constexpr NodeGroup one_node{1, 8}, two_nodes{2, 8}, four_nodes{4, 8}, sixteen_nodes{16, 8};

// Of a message, per network adapter: perftest's 779.6 Gb/s both ways over 400 Gb/s links (NVIDIA/nccl issue 2409).
constexpr double wire_share = 779.6 / 800;
Bandwidth wire(std::int64_t adapters, std::int64_t gigabits) {
    return Bandwidth{std::llround(static_cast<double>(adapters * gigabits) * 1e9 * wire_share)};
}

NcclTable small(const std::string& log, NodeGroup group, Bytes to) { return {log, group, Bytes{8}, to}; }

// The tree under LL: what NCCL's tuner starts from, as recalled: 6.8 us per call and 0.6 us per NVLink hop
// (src/graph/tuning.cc); half of a link's 450 GB/s carries flags.
NcclCosts tree_ll() {
    NcclCosts costs{tree, ll, nanoseconds(6800), {}, {}, {}, {}, {}};
    costs.nvlink = {nanoseconds(600), gigabytes_per_second(225)};
    costs.network = {microseconds(5), gigabytes_per_second(20)};
    return costs;
}

NcclCosts nvls_simple(Bandwidth network) {
    NcclCosts costs{nvls, simple, {}, {}, {}, {}, Bytes{16} * mebibyte.value, microseconds(20)};
    costs.nvlink = {microseconds(15), gigabytes_per_second(250)};
    costs.network = {microseconds(15), network};
    return costs;
}

NcclCosts chained(NcclAlgorithm algorithm, std::int64_t nvlink_gigabytes, Bandwidth network) {
    NcclCosts costs{algorithm, simple, {}, {}, {}, {}, {}, {}};
    costs.nvlink = {microseconds(5), gigabytes_per_second(nvlink_gigabytes)};
    costs.network = {microseconds(5), network};
    return costs;
}

const char* const whose_hops =
    "one node count doesn't tell the tiers apart: both have the same hop; the network's rate is the wire's";
const char* const tuner = "launch and NVLink hop are assumed, as recalled of NCCL's tuner (src/graph/tuning.cc)";

// 8 x 400G InfiniBand; 2 nodes, and 4 nodes in virtual machines. NVLSTree by default.
NcclCluster infiniband_a() {
    const NcclTable large{"n01", two_nodes}, little = small("n01", two_nodes, Bytes{256 << 10});
    return {"h100-infiniband-a",
            {{nvls_simple(wire(8, 400)), {{{large}, {hop, rate_nvlink, chunk}}}, whose_hops},
             {tree_ll(), {{{little}, {hop_network, rate_network}}}, tuner}},
            {{"H100, InfiniBand A: 2 nodes (n01)", large},
             {"H100, InfiniBand A: 4 nodes (n02)", {"n02", four_nodes}},
             {"H100, InfiniBand A: 4 nodes (n02), below 1 MiB", small("n02", four_nodes, Bytes{512 << 10})},
             {"H100, another site, costs of A: 16 nodes (n28), to 2 KiB", small("n28", sixteen_nodes, mebibyte)}},
            {{"H100, InfiniBand A: 2 nodes (n01), odd sizes", large}}};
}

// 400G InfiniBand per GPU: NVLSTree by default, and a ring by NCCL_ALGO. Two more sites of the same build.
NcclCluster infiniband_b() {
    const NcclTable trees{"n04", two_nodes}, rings{"n07", two_nodes};
    return {"h100-infiniband-b",
            {{nvls_simple(wire(8, 400)), {{{trees}, {hop, rate_nvlink, chunk}}}, whose_hops},
             {chained(ring, 450, wire(8, 400)), {{{rings}, {hop, rate_network}}},
              "one hop for both tiers; NVLink's rate of the data sheet, which the network stays below"}},
            {{"H100, InfiniBand B: 2 nodes (n04)", trees, nvls},
             {"H100, InfiniBand B: 2 nodes, ring (n07)", rings, ring},
             {"H100, another site, costs of B: 2 nodes (n38)", {"n38", two_nodes}, nvls},
             {"H100, another site, costs of B: 2 nodes (n49)", {"n49", two_nodes}, nvls}},
            {{"H100, InfiniBand B: 2 nodes (n04), odd sizes", trees, nvls},
             {"H100, InfiniBand B: 2 nodes, ring (n07), odd sizes", rings, ring}}};
}

// p5: 32 x 100G EFA. One node shows NVLink, two the network.
NcclCluster efa_h100() {
    const NcclTable inside{"n20", one_node}, across{"n18", two_nodes};
    const Bytes little{512 << 10};
    return {"h100-efa",
            {{nvls_simple(wire(32, 100)),
              {{{inside, across}, {hop_nvlink, hop_network, rate_nvlink, chunk}}},
              "one node shows NVLink's hop, two nodes the network's; the network's rate is the wire's"},
             {tree_ll(),
              {{{small("n20", one_node, little)}, {hop_nvlink, rate_nvlink}},
               {{small("n18", two_nodes, little)}, {hop_network, rate_network}}},
              "the launch is assumed, as recalled of NCCL's tuner (src/graph/tuning.cc)"}},
            {{"H100, EFA: 1 node (n20)", inside}, {"H100, EFA: 2 nodes (n18)", across}},
            {{"H100, EFA: 1 node (n20), odd sizes", inside}, {"H100, EFA: 2 nodes (n18), odd sizes", across}}};
}

// The same with the network's hop of InfiniBand A, as though only the one node had been measured.
NcclCluster efa_h100_from_one_node() {
    NcclCluster cluster = efa_h100();
    cluster.sets.resize(1);
    cluster.sets[0].start.network.hop = nanoseconds(11800);
    cluster.sets[0].steps = {{{{"n20", one_node}}, {hop_nvlink, rate_nvlink, chunk}}};
    cluster.name = "h100-efa-one-node";
    cluster.is_study = true;
    cluster.checks = {{"H100, EFA: 2 nodes (n18), network hop of InfiniBand A", {"n18", two_nodes}},
                      {"H100, EFA: 2 nodes (n18), the same from 128 MiB", {"n18", two_nodes, Bytes{128 << 20}}}};
    cluster.odd_sizes.clear();
    return cluster;
}

// BM.GPU4.8 and BM.GPU.B4.8: 16 x 100G RoCE. Nothing of the network is fitted; from 1 GiB only its rate matters.
NcclCluster roce_a100() {
    const NcclTable inside{"n15", one_node};
    const char* why = "the network's rate is the wire's, its hop is not seen from 1 GiB; a chain is a ring's links";
    return {"a100-roce",
            {{chained(ring, 230, wire(16, 100)), {{{inside}, {hop_nvlink, rate_nvlink}}}, why},
             {chained(tree, 230, wire(16, 100)), {{{inside}, {hop_nvlink, rate_nvlink}}}, why}},
            {{"A100, RoCE: 1 node (n15)", inside, ring},
             {"A100, RoCE: 2 nodes (n53), as a ring", {"n53", two_nodes}, ring},
             {"A100, RoCE: 2 nodes (n53), the fastest algorithm", {"n53", two_nodes}},
             {"A100, RoCE: 2 nodes (n54), the fastest algorithm", {"n54", two_nodes}}},
            {{"A100, RoCE: 1 node (n15), odd sizes", inside, ring}}};
}

// p4de: 4 x 100G EFA.
NcclCluster efa_a100() {
    NcclCosts costs = chained(tree, 230, wire(4, 100));
    costs.chunk_max = Bytes{16} * mebibyte.value;
    costs.chunk_cost = microseconds(20);
    const NcclTable across{"n17", two_nodes};
    return {"a100-efa",
            {{costs, {{{across}, {hop, rate_network, chunk}}}, "both tiers have one hop; NVLink's rate as on RoCE"}},
            {{"A100, EFA: 2 nodes (n17)", across}},
            {{"A100, EFA: 2 nodes (n17), odd sizes", across}}};
}

// NVL72: the 4 GPUs of a tray, and 64 of 16 trays, are on the same switches. Two sizes each.
NcclCluster rack_gb300() {
    const NodeGroup tray{1, 4}, two_trays{1, 8}, rack{1, 64};
    const auto exchange = [](const char* log, NodeGroup group) {
        NcclTable table{log, group};
        table.kind = CollectiveKind::all_to_all;
        return table;
    };
    NcclCosts all = nvls_simple({}), each = chained(direct, 600, {});
    all.chunk_max = {};
    all.nvlink.hop = each.nvlink.hop = {};
    const char* why = "latency is not seen at 8 GiB";
    return {"gb300-rack",
            {{all, {{{{"n41", tray}}, {rate_nvlink}}}, why},
             {each, {{{exchange("n44", tray)}, {rate_nvlink}}}, why}},
            {{"GB300, one rack: 64 GPUs of 16 nodes (n42)", {"n42", rack}},
             {"GB300, one rack: all-to-all of 8 GPUs (n45)", exchange("n45", two_trays)},
             {"GB300, one rack: all-to-all of 64 GPUs (n46)", exchange("n46", rack)}},
            {}};
}

std::vector<NcclSample> samples_of(const std::vector<NcclTable>& tables, RowChoice choice) {
    std::vector<NcclSample> all;
    for (const NcclTable& table : tables) {
        const std::vector<NcclSample> samples = nccl_samples(table, choice);
        all.insert(all.end(), samples.begin(), samples.end());
    }
    return all;
}

}  // namespace

std::vector<NcclCluster> nccl_clusters() {
    return {infiniband_a(), infiniband_b(), efa_h100(), efa_h100_from_one_node(), roce_a100(), efa_a100(),
            rack_gb300()};
}

std::vector<NcclCosts> fit_cluster(const NcclCluster& cluster, RowChoice choice) {
    std::vector<NcclCosts> sets;
    for (const NcclSetPlan& plan : cluster.sets) {
        NcclCosts costs = plan.start;
        for (const NcclFitStep& step : plan.steps)
            costs = fit_nccl(costs, step.free, samples_of(step.tables, choice));
        sets.push_back(costs);
    }
    return sets;
}

NcclCostsFile costs_file(const NcclCluster& cluster) {
    const std::vector<NcclCosts> fitted = fit_cluster(cluster, RowChoice::all);
    NcclCostsFile file{cluster.name, {}};
    for (std::size_t i = 0; i < fitted.size(); ++i) {
        std::string source = "fitted on nccl-tests logs:";
        for (const NcclFitStep& step : cluster.sets[i].steps) {
            std::vector<std::string_view> free;
            for (const NcclParameter parameter : step.free) free.push_back(name(parameter));
            std::vector<std::string_view> logs;
            for (const NcclTable& table : step.tables) logs.push_back(table.log);
            source += fmt::format(" {} on {},", fmt::join(free, " and "), fmt::join(logs, " and "));
        }
        source.back() = ';';
        file.sets.push_back({fitted[i], fmt::format("{} {}", source, cluster.sets[i].why)});
    }
    return file;
}

}  // namespace rehearse

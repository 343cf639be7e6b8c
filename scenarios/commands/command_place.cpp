#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/results.hpp"
#include "scenarios/workload_of.hpp"

namespace rehearse {

namespace {

struct PlaceArguments {
    ScenarioArguments scenario;
    std::string format = "table", policy;
};

// The ranks of every used node, in node order.
std::vector<std::vector<std::uint32_t>> ranks_by_node(const Placement& placement, const Cluster& cluster) {
    std::vector<std::vector<std::uint32_t>> ranks(cluster.node_count());
    for (std::uint32_t rank = 0; rank < placement.rank_count(); ++rank)
        ranks[cluster.node_of(placement.gpu(RankId{rank})).value].push_back(rank);
    return ranks;
}

// {0, 1, 2, 3, 8} -> "0-3, 8".
std::string as_ranges(const std::vector<std::uint32_t>& sorted) {
    std::string text;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t end = i;
        while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", sorted[i]);
        if (end > i) text += fmt::format("-{}", sorted[end]);
        i = end + 1;
    }
    return text;
}

void print_nodes(const Placement& placement, const Cluster& cluster) {
    Table table({"node", "tor_set", "pod", "ranks"});
    const auto ranks = ranks_by_node(placement, cluster);
    const FabricShape& shape = cluster.shape();
    for (std::uint32_t node = 0; node < ranks.size(); ++node) {
        if (ranks[node].empty()) continue;
        const std::uint32_t set = node / shape.hosts_per_tor_set;
        table.add({fmt::format("node{}", node), fmt::format("{}", set), fmt::format("{}", set / shape.tor_sets_per_pod),
                   as_ranges(ranks[node])});
    }
    fmt::print("{}", table.render(TableFormat::text));
}

void print_traffic(const JobTraffic& traffic, const Placement& placement, const Cluster& cluster) {
    const TierBytes bytes = bytes_per_tier(traffic, placement, cluster);
    fmt::print("\nbytes of a step by the highest tier they cross:");
    for (const LinkTier tier : {LinkTier::nvlink, LinkTier::host, LinkTier::aggregation, LinkTier::core})
        fmt::print("  {} {:.4g}", name(tier), bytes.at(tier));
    fmt::print("\n");
}

// Open MPI's hostfile: hosts in the order of their first rank.
void print_hostfile(const Placement& placement, const Cluster& cluster) {
    const auto ranks = ranks_by_node(placement, cluster);
    std::vector<bool> printed(ranks.size(), false);
    for (std::uint32_t rank = 0; rank < placement.rank_count(); ++rank) {
        const std::uint32_t node = cluster.node_of(placement.gpu(RankId{rank})).value;
        if (!printed[node]) fmt::print("node{} slots={}\n", node, ranks[node].size());
        printed[node] = true;
    }
}

int place_and_print(const PlaceArguments& arguments) {
    std::vector<std::string> overrides = arguments.scenario.overrides;
    if (!arguments.policy.empty()) overrides.push_back("job.placement=" + arguments.policy);
    const ValidScenario scenario = validate(read_scenario(arguments.scenario.path, overrides));
    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = workload_of(scenario);
    const Placement placement = place_job(scenario, workload, cluster, scenario.seed());
    if (arguments.format == "hostfile") {
        print_hostfile(placement, cluster);
    } else if (arguments.format == "csv") {
        fmt::print("{}", placement_table(placement, workload, cluster).render(TableFormat::csv));
    } else {
        print_nodes(placement, cluster);
        print_traffic(job_traffic(workload), placement, cluster);
    }
    return 0;
}

}  // namespace

void add_place(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<PlaceArguments>();
    CLI::App* command = add_command(app, "place", "run the scheduler and print the placement",
                                    "rehearse place scenarios/library/dense_64.yaml --policy topology_aware");
    add_scenario(*command, arguments->scenario);
    command->add_option("--policy", arguments->policy, "replaces job.placement")->type_name("WORD");
    command->add_option("--format", arguments->format, "table (by node), csv (by rank) or hostfile")
        ->type_name("WORD")
        ->check(CLI::IsMember({"table", "csv", "hostfile"}));
    command->callback([arguments, &chosen] { chosen = [arguments] { return place_and_print(*arguments); }; });
}

}  // namespace rehearse

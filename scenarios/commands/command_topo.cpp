#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/ethlink_table.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/text_file.hpp"
#include "sim/trace/table.hpp"
#include "topology/export.hpp"
#include "topology/fabric_checks.hpp"

namespace rehearse {

namespace {

struct TopoArguments {
    ScenarioArguments scenario;
    std::string format = "table", out;
    bool check = false, ethlink = false;
};

void write_fabric(std::ostream& stream, const Cluster& cluster, const std::string& format) {
    if (format == "dot") write_dot(stream, cluster);
    else if (format == "graphml") write_graphml(stream, cluster);
    else stream << fabric_table(cluster);
}

int print_checks(const Cluster& cluster) {
    constexpr std::string_view relations[] = {">=", "<=", "="};
    Table table({"check", "passed", "value", "", "bound", "meaning"});
    bool passed = true;
    for (const FabricCheck& check : check_fabric(cluster)) {
        passed = passed && check.passed;
        table.add({check.name, check.passed ? "yes" : "NO", fmt::format("{:g}", check.value),
                   std::string(relations[static_cast<std::size_t>(check.relation)]), fmt::format("{:g}", check.bound),
                   check.value_meaning});
    }
    fmt::print("{}", table.render(TableFormat::text));
    return passed ? 0 : 1;
}

ClusterSpec fabric_of(const ScenarioArguments& scenario) {
    if (is_net_scenario(scenario.path, scenario.overrides))
        return validate(read_net_scenario(scenario.path, scenario.overrides)).cluster();
    return validate(read_scenario(scenario.path, scenario.overrides)).cluster();
}

int topo(const TopoArguments& arguments) {
    const Cluster cluster = build_cluster(fabric_of(arguments.scenario));
    if (arguments.check) return print_checks(cluster);
    if (arguments.ethlink) {
        EthLinkSpec spec;
        spec.rate = cluster.spec().node.nic;
        fmt::print("{}", ethlink_table(spec));
        return 0;
    }
    if (arguments.out.empty()) {
        write_fabric(std::cout, cluster, arguments.format);
        return 0;
    }
    std::ofstream file(arguments.out, std::ios::binary);
    write_fabric(file, cluster, arguments.format);
    close_or_throw(file, arguments.out);
    return 0;
}

}  // namespace

void add_topo(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<TopoArguments>();
    CLI::App* command = add_command(app, "topo", "inspect, check and export the fabric",
                                    "rehearse topo scenarios/library/dense_64.yaml --format dot --out fabric.dot");
    add_scenario(*command, arguments->scenario);
    command->add_option("--format", arguments->format, "table, dot or graphml")
        ->type_name("WORD")
        ->check(CLI::IsMember({"table", "dot", "graphml"}));
    add_output_file(*command, "--out", arguments->out, "file to write (default: the terminal)");
    command->add_flag("--check", arguments->check, "count links and capacities; exit code 1 when a check fails");
    command->add_flag("--ethlink", arguments->ethlink,
                      "RDMA against load/store over message size, at the rate of the scenario's NICs");
    command->callback([arguments, &chosen] { chosen = [arguments] { return topo(*arguments); }; });
}

}  // namespace rehearse

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands.hpp"
#include "scenarios/net.hpp"

namespace rehearse {

namespace {

struct NetArguments {
    ScenarioArguments scenario;
    std::string out, fidelity;
    std::uint64_t seed = 0;
    bool quiet = false;
};

NetRequest request_of(const NetArguments& arguments, const CLI::App& command) {
    NetRequest request;
    request.path = arguments.scenario.path;
    request.overrides = arguments.scenario.overrides;
    if (command.count("--fidelity") > 0) request.overrides.push_back("models.network.fidelity=" + arguments.fidelity);
    if (command.count("--seed") > 0) request.overrides.push_back("seed=" + std::to_string(arguments.seed));
    if (command.count("--out") > 0) request.out = arguments.out;
    request.quiet = arguments.quiet ? Switch::on : Switch::off;
    return request;
}

}  // namespace

void add_net(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<NetArguments>();
    CLI::App* command = add_command(app, "net", "run traffic patterns on the fabric alone",
                                    "rehearse net scenarios/library/net_permutation_128.yaml --fidelity packet");
    add_scenario(*command, arguments->scenario, "net.message=1 MB");
    command->add_option("--out", arguments->out, "results folder (default: results/NAME-FINGERPRINT)")
        ->type_name("DIR");
    command->add_option("--fidelity", arguments->fidelity, "network model: ideal, flow or packet")->type_name("WORD");
    command->add_option("--seed", arguments->seed, "replaces the seed of the file")->type_name("N");
    command->add_flag("--quiet", arguments->quiet, "no summary");
    command->callback([arguments, command, &chosen] {
        chosen = [request = request_of(*arguments, *command)] { return net(request) ? 0 : 1; };
    });
}

}  // namespace rehearse

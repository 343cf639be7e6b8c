#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/net/net.hpp"
#include "sim/base/fault.hpp"
#include "sim/config/scalar_text.hpp"
#include "sim/engine/parallel/process_group.hpp"

namespace rehearse {

namespace {

struct NetArguments {
    ScenarioArguments scenario;
    std::string out, fidelity, seed;
    std::uint32_t threads = 1;
    bool quiet = false, mpi = false;
};

NetRequest request_of(const NetArguments& arguments, const CLI::App& command) {
    NetRequest request;
    request.path = arguments.scenario.path;
    request.overrides = arguments.scenario.overrides;
    if (command.count("--fidelity") > 0) request.overrides.push_back("models.network.fidelity=" + arguments.fidelity);
    if (command.count("--seed") > 0)
        request.overrides.push_back(fmt::format("seed={}", value_of("--seed", parse_unsigned(arguments.seed))));
    if (command.count("--out") > 0) request.out = arguments.out;
    request.quiet = arguments.quiet ? Switch::on : Switch::off;
    request.threads = arguments.threads;
    return request;
}

// One process of those that mpirun started. What is wrong with the input they all find alike, and the first one says
// it; any other failure is this process's own, and the others would wait for it for ever.
int net_with_processes(NetRequest request) {
    if (!ProcessGroup::is_available())
        throw InputError({{{}, "--mpi", "this build has no MPI", "a build on a machine with MPI",
                           "install libopenmpi-dev and configure again, or use --threads"}});
    ProcessGroup processes;
    request.processes = &processes;
    try {
        return net(request) ? 0 : 1;
    } catch (const InputError&) {
        if (processes.rank() == 0) throw;
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "rehearse: process {}: {}\n", processes.rank(), error.what());
        processes.abort(1);
    }
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
    CLI::Option* threads = command->add_option("--threads", arguments->threads,
                                               "threads that sweep the fabric side by side at packet fidelity")
                               ->type_name("N")
                               ->check(CLI::Range(1, 1024));
    command->add_flag("--mpi", arguments->mpi, "one process of several: mpirun -n N rehearse net ... --mpi")
        ->excludes(threads);
    command->add_flag("--quiet", arguments->quiet, "no summary");
    command->callback([arguments, command, &chosen] {
        chosen = [arguments, command] {
            const NetRequest request = request_of(*arguments, *command);
            if (arguments->mpi) return net_with_processes(request);
            return net(request) ? 0 : 1;
        };
    });
}

}  // namespace rehearse

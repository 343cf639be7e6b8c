#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/live/live.hpp"

namespace rehearse {

namespace {

struct LiveArguments {
    ScenarioArguments scenario;
    LiveRequest request;
    std::string out;
    bool compare = false, force = false, quiet = false, operators = false, mpi = false;
};

// One process of those that mpirun started, as in `rehearse net --mpi`.
int live_with_processes(LiveRequest request) {
    if (!MpiRanks::is_available())
        throw InputError({{{}, "--mpi", "this build has no MPI", "a build on a machine with MPI",
                           "install libopenmpi-dev and configure again, or leave --mpi out"}});
    MpiRanks processes;
    request.processes = &processes;
    try {
        live(request);
        return 0;
    } catch (const InputError&) {
        if (processes.communicator().rank() == 0) throw;
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "rehearse: process {}: {}\n", processes.communicator().rank(), error.what());
        processes.abort(1);
    }
}

}  // namespace

void add_live(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<LiveArguments>();
    CLI::App* command = add_command(app, "live", "run a scenario on this machine's cores, with the real kernels",
                                    "rehearse live scenarios/library/live_balanced.yaml --compare");
    add_scenario(*command, arguments->scenario, "training.micro_batch=2");
    LiveRequest& request = arguments->request;
    command->add_option("--out", arguments->out, "results folder (default: none)")->type_name("DIR");
    command->add_option("--oversample", request.oversample, "run so many times as many steps; the calmest count")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000}));
    command->add_option("--patience", request.patience, "how long to wait for a calm machine, with --compare")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0));
    command->add_option("--steps", request.steps, "steps that count")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
    command->add_option("--warmup", request.warmup, "steps before them, at least policies.warmup_steps")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{100'000}));
    command->add_flag("--compare", arguments->compare, "simulate the same scenario and compare it phase by phase");
    command->add_option("--calibration", request.calibration, "of this machine (default: that of the profile)")
        ->type_name("FILE");
    command->add_flag("--force-device", arguments->force, "take a calibration of another device");
    command->add_flag("--mpi", arguments->mpi, "one process of several: mpirun -n N rehearse live ... --mpi");
    command->add_flag("--operators", arguments->operators, "a table by operator, too");
    command->add_flag("--quiet", arguments->quiet, "no table");
    command->callback([arguments, command, &chosen] {
        chosen = [arguments, command] {
            LiveRequest asked = arguments->request;
            asked.path = arguments->scenario.path;
            asked.overrides = arguments->scenario.overrides;
            if (command->count("--out") > 0) asked.out = arguments->out;
            const auto as_switch = [](bool flag) { return flag ? Switch::on : Switch::off; };
            asked.compare = as_switch(arguments->compare);
            asked.force_device = as_switch(arguments->force);
            asked.operators = as_switch(arguments->operators);
            asked.quiet = as_switch(arguments->quiet);
            if (arguments->mpi) return live_with_processes(asked);
            live(asked);
            return 0;
        };
    });
}

}  // namespace rehearse

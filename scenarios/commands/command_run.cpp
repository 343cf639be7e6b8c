#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/run.hpp"
#include "sim/base/fault.hpp"
#include "sim/config/scalar_text.hpp"

namespace rehearse {

namespace {

struct RunArguments {
    ScenarioArguments scenario;
    std::string out, fidelity, slice, check, seed, stop_after;
    std::int64_t seeds = 1, threads = 1;
    bool quiet = false;
};

const std::vector<std::string>& stage_words() {  // in the order of Stage
    static const std::vector<std::string> words{"scenario",  "cluster",  "workload",
                                                "placement", "timeline", "metrics"};
    return words;
}

std::string stage_list() { return fmt::format("{}", fmt::join(stage_words(), ", ")); }

RunRequest request_of(const RunArguments& arguments, const CLI::App& command) {
    RunRequest request;
    request.path = arguments.scenario.path;
    request.overrides = arguments.scenario.overrides;
    if (command.count("--fidelity") > 0) request.overrides.push_back("models.network.fidelity=" + arguments.fidelity);
    if (command.count("--slice") > 0) request.overrides.push_back("models.network.slice=" + arguments.slice);
    if (command.count("--check") > 0) {
        value_of("--check", parse_word(arguments.check, {"packet"}));
        request.check_packets = Switch::on;
    }
    if (command.count("--seed") > 0)
        request.overrides.push_back(fmt::format("seed={}", value_of("--seed", parse_unsigned(arguments.seed))));
    if (command.count("--out") > 0) request.out = arguments.out;
    if (command.count("--stop-after") > 0)
        request.stop_after =
            static_cast<Stage>(value_of("--stop-after", parse_word(arguments.stop_after, stage_words())));
    request.seeds = arguments.seeds;
    request.threads = arguments.threads;
    request.quiet = arguments.quiet ? Switch::on : Switch::off;
    return request;
}

}  // namespace

void add_run(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<RunArguments>();
    CLI::App* command =
        add_command(app, "run", "simulate one training step",
                    "rehearse run scenarios/library/megascale_175b_256.yaml --set training.micro_batch=2");
    add_scenario(*command, arguments->scenario);
    command->add_option("--out", arguments->out, "results folder (default: results/NAME-FINGERPRINT)")
        ->type_name("DIR");
    command->add_option("--fidelity", arguments->fidelity, "network model: ideal, flow or packet")->type_name("WORD");
    command
        ->add_option("--slice", arguments->slice,
                     "packet fidelity: what goes as packets; bounds joined by | or a comma")
        ->type_name("ranks=0-63|phase=dp|time=10ms..20ms");
    command
        ->add_option("--check", arguments->check,
                     "packet: run the busiest moments again as flows and as packets, and compare")
        ->type_name("WORD");
    command->add_option("--seed", arguments->seed, "replaces the seed of the file")->type_name("N");
    command->add_option("--seeds", arguments->seeds, "run that many seeds; every figure becomes {median, min, max}")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
    command
        ->add_option("--threads", arguments->threads,
                     "seeds that run side by side (0: all cores); results do not depend on it")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1024}));
    command->add_option("--stop-after", arguments->stop_after, "print the dump of a stage and end: " + stage_list())
        ->type_name("STAGE");
    command->add_flag("--quiet", arguments->quiet, "no summary");
    command->callback([arguments, command, &chosen] {
        chosen = [arguments, command] {
            run(request_of(*arguments, *command));
            return 0;
        };
    });
}

}  // namespace rehearse

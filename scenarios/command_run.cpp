#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands.hpp"
#include "scenarios/run.hpp"

namespace rehearse {

namespace {

struct RunArguments {
    ScenarioArguments scenario;
    std::string out, fidelity;
    std::uint64_t seed = 0;
    std::int64_t seeds = 1, threads = 1;
    Stage stop_after = Stage::results;
    bool quiet = false;
};

RunRequest request_of(const RunArguments& arguments, const CLI::App& command) {
    RunRequest request;
    request.path = arguments.scenario.path;
    request.overrides = arguments.scenario.overrides;
    if (command.count("--fidelity") > 0) request.overrides.push_back("models.network.fidelity=" + arguments.fidelity);
    if (command.count("--seed") > 0) request.overrides.push_back("seed=" + std::to_string(arguments.seed));
    if (command.count("--out") > 0) request.out = arguments.out;
    request.stop_after = arguments.stop_after;
    request.seeds = arguments.seeds;
    request.threads = arguments.threads;
    request.quiet = arguments.quiet ? Switch::on : Switch::off;
    return request;
}

const std::vector<std::pair<std::string, Stage>>& stage_words() {
    static const std::vector<std::pair<std::string, Stage>> words{
        {"scenario", Stage::scenario},   {"cluster", Stage::cluster},   {"workload", Stage::workload},
        {"placement", Stage::placement}, {"timeline", Stage::timeline}, {"metrics", Stage::metrics}};
    return words;
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
    command->add_option("--fidelity", arguments->fidelity, "network model: ideal or flow")->type_name("WORD");
    command->add_option("--seed", arguments->seed, "replaces the seed of the file")->type_name("N");
    command->add_option("--seeds", arguments->seeds, "run that many seeds; every figure becomes {median, min, max}")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
    command
        ->add_option("--threads", arguments->threads,
                     "seeds that run side by side (0: all cores); results do not depend on it")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1024}));
    command->add_option("--stop-after", arguments->stop_after, "print the dump of a stage and end")
        ->type_name("STAGE")
        ->transform(CLI::CheckedTransformer(stage_words())
                        .description("scenario, cluster, workload, placement, timeline, metrics"));
    command->add_flag("--quiet", arguments->quiet, "no summary");
    command->callback([arguments, command, &chosen] {
        chosen = [request = request_of(*arguments, *command)] {
            run(request);
            return 0;
        };
    });
}

}  // namespace rehearse

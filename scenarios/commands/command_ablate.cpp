#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/ablate/ablate.hpp"
#include "scenarios/commands/commands.hpp"

namespace rehearse {

void add_ablate(CLI::App& app, Chosen& chosen) {
    auto request = std::make_shared<AblationRequest>();
    auto scenario = std::make_shared<ScenarioArguments>();
    CLI::App* command =
        add_command(app, "ablate", "what each group of techniques gives to the speed-up of all of them",
                    "rehearse ablate scenarios/library/dense_64_ablation.yaml --order operators,comm");
    add_scenario(*command, *scenario);
    command
        ->add_option("--order", request->order,
                     "groups of the scenario's `ablation`, in the order in which they are switched on (default: all "
                     "as written; without `ablation` each technique that is on)")
        ->type_name("A,B,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--seeds", request->seeds, "run each subset with that many seeds; the median counts")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
    add_output_file(*command, "--json", request->json_path, "also write the tables as JSON");
    command->add_option("--threads", request->threads, "subsets simulated side by side (0: all cores)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1024}));
    command->callback([request, scenario, &chosen] {
        chosen = [request, scenario] {
            request->path = scenario->path;
            request->overrides = scenario->overrides;
            ablation_command(*request);
            return 0;
        };
    });
}

}  // namespace rehearse

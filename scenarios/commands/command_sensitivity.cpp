#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands/commands.hpp"
#include "scenarios/sensitivity/sensitivity.hpp"

namespace rehearse {

void add_sensitivity(CLI::App& app, Chosen& chosen) {
    auto request = std::make_shared<SensitivityRequest>();
    auto scenario = std::make_shared<ScenarioArguments>();
    CLI::App* command =
        add_command(app, "sensitivity", "what each change of a scenario does to the step, and why",
                    "rehearse sensitivity scenarios/library/dense_64.yaml --change training.recompute=none");
    add_scenario(*command, *scenario);
    command
        ->add_option("--change", request->changes,
                     "one change to measure (default: doubles sizes, halves rates, switches techniques, one by one)")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    add_output_file(*command, "--json", request->json_path, "also write the table as JSON");
    command
        ->add_option("--threads", request->threads, "changes simulated side by side (0: all cores)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1024}));
    command->callback([request, scenario, &chosen] {
        chosen = [request, scenario] {
            request->path = scenario->path;
            request->overrides = scenario->overrides;
            sensitivity_command(*request);
            return 0;
        };
    });
}

}  // namespace rehearse

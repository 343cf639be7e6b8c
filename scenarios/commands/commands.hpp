// The commands of the program. Each add_*() describes one to the parser; the chosen one sets `chosen` to what it does.
// Exit codes: 0 done, 1 the simulation could not end or a published band was missed, 2 bad input or usage.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/fault.hpp"
#include "sim/config/scalar_text.hpp"

namespace CLI {
class App;
}

namespace rehearse {

using Chosen = std::function<int()>;

void add_run(CLI::App& app, Chosen& chosen);
void add_live(CLI::App& app, Chosen& chosen);
void add_net(CLI::App& app, Chosen& chosen);
void add_topo(CLI::App& app, Chosen& chosen);
void add_place(CLI::App& app, Chosen& chosen);
void add_sensitivity(CLI::App& app, Chosen& chosen);
void add_ablate(CLI::App& app, Chosen& chosen);
void add_validate(CLI::App& app, Chosen& chosen);
void add_calibrate(CLI::App& app, Chosen& chosen);
void add_calibrate_run(CLI::App& calibrate, Chosen& chosen);
void add_calibration_files(CLI::App& calibrate, Chosen& chosen);  // import, show, diff
void add_report(CLI::App& app, Chosen& chosen);
void add_completion(CLI::App& app, Chosen& chosen);

// A command with its help text and one example, which stands under the options.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what, const std::string& example);

// A scenario and its --set overrides: what most commands begin with.
struct ScenarioArguments {
    std::string path;
    std::vector<std::string> overrides;
};
void add_scenario(CLI::App& command, ScenarioArguments& arguments,
                  const std::string& example = "training.batch_global=512");

// An option that names a file to write. One that cannot be written is a fault of the command line (exit code 2).
void add_output_file(CLI::App& command, const std::string& name, std::string& path, const std::string& what);

// Parses, runs the chosen command and turns errors into messages on stderr and exit codes.
int run_program(int argc, const char* const* argv);

// The value of an option, or a fault that names it.
template <class T>
T value_of(const char* option, const Parsed<T>& parsed) {
    if (const auto* wrong = std::get_if<TextFault>(&parsed))
        throw InputError({{{option, 0, 0}, "", wrong->wrong, wrong->expected, wrong->todo}});
    return std::get<T>(parsed);
}

}  // namespace rehearse

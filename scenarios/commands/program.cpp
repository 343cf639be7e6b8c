#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "scenarios/commands/commands.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/validation/validation.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/nearest.hpp"
#include "sim/trace/output_error.hpp"

namespace rehearse {

namespace {

constexpr int exit_not_ended = 1, exit_bad_input = 2;

void add_commands(CLI::App& app, Chosen& chosen) {
    add_run(app, chosen);
    add_live(app, chosen);
    add_net(app, chosen);
    add_topo(app, chosen);
    add_place(app, chosen);
    add_sensitivity(app, chosen);
    add_ablate(app, chosen);
    if (!validation_suites().empty()) add_validate(app, chosen);
    add_calibrate(app, chosen);
    add_report(app, chosen);
    add_completion(app, chosen);
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

std::string short_help(const CLI::App& app) {
    std::string text = "rehearse: a training run before it touches the cluster\n\n";
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        text += fmt::format("  rehearse {:<11} {}\n", command->get_name(), command->get_description());
    return text +
           "\nTry: rehearse run scenarios/library/megascale_175b_12288.yaml\n"
           "Each command explains itself with --help.\n";
}

int usage_error(const std::string& wrong, const std::string& near) {
    const std::string hint =
        near.empty() ? "rehearse --help lists what there is" : fmt::format("did you mean \"{}\"?", near);
    fmt::print(stderr, "rehearse: {}; {}\n", wrong, hint);
    return exit_bad_input;
}

// The option that a mistyped one most likely meant.
std::string nearest_option(const CLI::App& command, const std::string& word) {
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    return nearest_word(word.substr(0, word.find('=')), known);
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version print themselves
    const auto chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    // A mistyped option comes first: what else the parser complains about often follows from it.
    const std::vector<std::string> extras = app.remaining(true);
    const auto option =
        std::find_if(extras.begin(), extras.end(), [](const std::string& e) { return e.rfind("-", 0) == 0; });
    if (option != extras.end())
        return usage_error(fmt::format("unknown option {}", in_quotes(*option)), nearest_option(command, *option));
    const std::string name = chosen.empty() ? "" : command.get_name() + " ";
    fmt::print(stderr, "rehearse: {}; see rehearse {}--help\n", error.what(), name);
    return exit_bad_input;
}

std::string command_line(int argc, const char* const* argv) {
    std::string line;
    for (int i = 0; i < argc; ++i) line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
    return line;
}

int run_chosen(const Chosen& chosen, const std::string& line) {
    try {
        const int code = chosen();
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            throw OutputError("the output cannot be written to the end: no space left, or nobody reads it");
        return code;
    } catch (const InputError& error) {
        fmt::print(stderr, "{}\n", error.what());
        return exit_bad_input;
    } catch (const OutputError& error) {
        fmt::print(stderr, "rehearse: {}\n", error.what());
    } catch (const InvariantBroken& error) {
        const std::string text = error.what();
        fmt::print(stderr, "rehearse: this should not happen: {}\n", text);
        if (text.find("reproduce with:") == text.npos) fmt::print(stderr, "reproduce with: {}\n", line);
        fmt::print(stderr, "version {}, commit {}\n", version(), commit());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "rehearse: out of memory; use a smaller scenario or a machine with more memory\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "rehearse: {}\nreproduce with: {}\n", error.what(), line);
    }
    return exit_not_ended;
}

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& what, const std::string& example) {
    CLI::App* command = app.add_subcommand(name, what);
    command->footer("Example:\n  " + example + "\n");
    return command;
}

void add_scenario(CLI::App& command, ScenarioArguments& arguments, const std::string& example) {
    command.add_option("scenario", arguments.path, "scenario file (YAML)")->required();
    command.add_option("--set", arguments.overrides, "replace one value of the file: --set " + example)
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

int run_program(int argc, const char* const* argv) {
    CLI::App app{"Rehearse a training run before it touches the cluster", "rehearse"};
    app.set_version_flag("--version", fmt::format("rehearse {} ({})", version(), commit()));
    app.require_subcommand(0, 1);
    Chosen chosen;
    add_commands(app, chosen);
    const std::vector<std::string> names = command_names(app);
    const std::string first = argc > 1 ? argv[1] : "";
    if (!first.empty() && first[0] != '-' && std::find(names.begin(), names.end(), first) == names.end())
        return usage_error(fmt::format("unknown command {}", in_quotes(first)), nearest_word(first, names));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return explain(app, error);
    }
    if (!chosen) {
        fmt::print("{}", short_help(app));
        return 0;
    }
    return run_chosen(chosen, command_line(argc, argv));
}

}  // namespace rehearse

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands/commands.hpp"

namespace rehearse {

namespace {

std::string options_of(const CLI::App& command) {
    std::string words;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames())
            words += fmt::format("{}--{}", words.empty() ? "" : " ", name);
    }
    return words;
}

// Made from the parser itself, so that it cannot fall behind. zsh reads the same through bashcompinit.
std::string script(const CLI::App& app) {
    std::string names, cases;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        names += fmt::format("{}{}", names.empty() ? "" : " ", command->get_name());
        cases += fmt::format("        {}) words=\"{}\" ;;\n", command->get_name(), options_of(*command));
    }
    return fmt::format(
        "_rehearse() {{\n"
        "    local current=\"${{COMP_WORDS[COMP_CWORD]}}\" words=\"\"\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))\n"
        "        return\n"
        "    fi\n"
        "    case \"${{COMP_WORDS[1]}}\" in\n"
        "{}"
        "    esac\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\") $(compgen -f -- \"$current\"))\n"
        "}}\n"
        "complete -F _rehearse rehearse\n",
        names, cases);
}

}  // namespace

void add_completion(CLI::App& app, Chosen& chosen) {
    auto shell = std::make_shared<std::string>();
    CLI::App* command =
        add_command(app, "completion", "print a completion script for a shell", "source <(rehearse completion bash)");
    command->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
    command->callback([shell, &app, &chosen] {
        chosen = [shell, &app] {
            if (*shell == "zsh") fmt::print("autoload -U +X bashcompinit && bashcompinit\n");
            fmt::print("{}", script(app));
            return 0;
        };
    });
}

}  // namespace rehearse

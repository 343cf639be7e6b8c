#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "scenarios/commands.hpp"
#include "scenarios/validation.hpp"

namespace rehearse {

void add_validate(CLI::App& app, Chosen& chosen) {
    auto request = std::make_shared<ValidateRequest>();
    const std::vector<SuiteEntry> suites = validation_suites();
    const std::string first = suites.empty() ? "" : suites.front().name;
    CLI::App* command = add_command(app, "validate", "published tables against predictions", "rehearse validate " + first);
    std::string listed;
    for (const SuiteEntry& suite : suites) listed += fmt::format("\n  {}: {}", suite.name, suite.what);
    command->add_option("suite", request->names, "suites to run (default: all):" + listed);
    command->add_option("--json", request->json_path, "also write the rows as JSON, for rehearse report")->type_name("FILE");
    command->callback([request, &chosen] { chosen = [request] { return validate_command(*request); }; });
}

}  // namespace rehearse

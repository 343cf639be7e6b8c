#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "scenarios/commands/commands.hpp"
#include "scenarios/text_file.hpp"
#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/validate_a100.hpp"
#include "scenarios/validation/validation.hpp"

namespace rehearse {

namespace {

struct Arguments {
    ValidateRequest published;
    A100Request a100;
    std::string json_path;  // "" = none
};

int validate(Arguments arguments) {
    std::vector<std::string>& names = arguments.published.names;
    const bool measured = std::erase(names, a100_suite) > 0 || !arguments.a100.data.empty();
    const bool published = !measured || !names.empty();
    if (published) choose_suites(arguments.published);  // its faults come before any work
    arguments.a100.markdown_path = arguments.published.markdown_path;
    nlohmann::ordered_json files;
    std::vector<ValidationSuite> suites;
    if (measured) files = validate_a100_command(arguments.a100);
    if (published) suites = validate_command(arguments.published);
    if (!arguments.json_path.empty()) write_text(arguments.json_path, validation_json(suites, files).dump(2) + "\n");
    const auto exceeds = [](const nlohmann::ordered_json& file) { return file.value("exceeds_band", false); };
    const bool any = std::any_of(files.begin(), files.end(), exceeds) ||
                     std::any_of(suites.begin(), suites.end(), [](const auto& s) { return s.exceeds_band(); });
    return any ? 1 : 0;
}

}  // namespace

void add_validate(CLI::App& app, Chosen& chosen) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        add_command(app, "validate", "published and measured steps against predictions", "rehearse validate megascale");
    std::string listed;
    for (const SuiteEntry& suite : validation_suites()) listed += fmt::format("\n  {}: {}", suite.name, suite.what);
    listed += fmt::format("\n  {}: measured steps on A100 from CSV files", a100_suite);
    command->add_option("suite", arguments->published.names, "suites to run (default: the published ones):" + listed);
    add_output_file(*command, "--json", arguments->json_path, "also write the rows as JSON");
    add_output_file(
        *command, "--markdown", arguments->published.markdown_path,
        "also write the table of each suite between the lines <!-- begin SUITE --> and <!-- end SUITE -->");
    command
        ->add_option("--published", arguments->published.rows,
                     "all, or held: only rows that a published figure is held for")
        ->check(CLI::IsMember({"all", "held"}));
    command->add_option("--leave-one-out", arguments->published.leave_one_out,
                        "megascale: refit without each ablation row and predict it (on or off; minutes)");
    command->add_option("--data", arguments->a100.data, "a100-steps: a CSV file (default: the train halves)")
        ->type_name("FILE");
    command->add_option("--profile", arguments->a100.profile, "a100-steps: profile file")->type_name("FILE");
    command->add_option("--folds", arguments->a100.folds, "a100-steps: cross-validate with so many folds (minutes)")
        ->check(CLI::Range(2, 50));
    command->add_option("--rows", arguments->a100.rows, "a100-steps: worst rows to print, -1 = all in file order");
    command->callback([arguments, &chosen] { chosen = [arguments] { return validate(*arguments); }; });
}

}  // namespace rehearse

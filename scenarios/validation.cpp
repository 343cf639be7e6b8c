#include "scenarios/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "scenarios/text_file.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/nearest.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

std::string_view use_word(RowUse use) { return use == RowUse::fitted ? "fitted" : "predicted"; }

std::string mean_error_line(const ValidationSuite& suite, RowUse use) {
    double sum = 0, worst = 0;
    int count = 0;
    for (const ValidationRow& row : suite.rows) {
        if (row.use != use) continue;
        sum += std::abs(row.error());
        worst = std::max(worst, std::abs(row.error()));
        ++count;
    }
    if (count == 0) return "";
    return fmt::format("{} rows {}: mean |error| {:.2f} %, largest {:.2f} %\n", count, use_word(use), 100 * sum / count, 100 * worst);
}

const SuiteEntry& find_suite(const std::vector<SuiteEntry>& suites, const std::string& name) {
    std::vector<std::string> known;
    for (const SuiteEntry& suite : suites) {
        if (suite.name == name) return suite;
        known.push_back(suite.name);
    }
    const std::string near = nearest_word(name, known);
    throw InputError({Fault{{}, "", fmt::format("no suite {}", in_quotes(name)), fmt::format("{}", fmt::join(known, ", ")),
                            near.empty() ? "" : fmt::format("did you mean \"{}\"?", near)}});
}

}  // namespace

std::string suite_table(const ValidationSuite& suite) {
    Table table({"system", "gpus", "quantity", "published", "predicted", "error", "use", "band"});
    for (const ValidationRow& row : suite.rows) {
        const std::string band =
            row.band ? fmt::format("{:.0f} %{}", 100 * *row.band, row.exceeds_band() ? " EXCEEDED" : "") : "-";
        table.add({row.system, fmt::format("{}", row.gpus), row.quantity, fmt::format("{:.4g}", row.published),
                   fmt::format("{:.4g}", row.predicted), fmt::format("{:+.2f} %", 100 * row.error()),
                   std::string(use_word(row.use)), band});
    }
    return fmt::format("{}\nsource: {}\n", suite.title, suite.source) + table.render(TableFormat::text) +
           mean_error_line(suite, RowUse::predicted) + mean_error_line(suite, RowUse::fitted);
}

std::string validation_json(const std::vector<ValidationSuite>& suites) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const ValidationSuite& suite : suites) {
        for (const ValidationRow& row : suite.rows)
            rows.push_back({{"suite", suite.name},
                            {"system", row.system},
                            {"gpus", row.gpus},
                            {"quantity", row.quantity},
                            {"published", row.published},
                            {"predicted", row.predicted},
                            {"error", row.error()},
                            {"status", use_word(row.use)}});
    }
    return nlohmann::ordered_json{{"schema_version", 1}, {"rows", rows}}.dump(2) + "\n";
}

int validate_command(const ValidateRequest& request) {
    const std::vector<SuiteEntry> entries = validation_suites();
    std::vector<const SuiteEntry*> asked;
    for (const std::string& name : request.names) asked.push_back(&find_suite(entries, name));
    if (request.names.empty()) {
        for (const SuiteEntry& entry : entries) asked.push_back(&entry);
    }
    bool within = true;
    std::vector<ValidationSuite> suites;
    for (const SuiteEntry* entry : asked) {
        suites.push_back(entry->compute());
        fmt::print("{}\n", suite_table(suites.back()));
        for (const ValidationRow& row : suites.back().rows) within = within && !row.exceeds_band();
    }
    if (!request.json_path.empty()) write_text(request.json_path, validation_json(suites));
    return within ? 0 : 1;
}

}  // namespace rehearse

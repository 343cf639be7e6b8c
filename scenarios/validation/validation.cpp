#include "scenarios/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/marked_block.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/nearest.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

std::string percent(std::optional<double> fraction) {
    return fraction ? fmt::format("{:+.2f} %", 100 * *fraction) : "-";
}

std::string mean_error_line(const ValidationSuite& suite, PublishedUse use) {
    double sum = 0, worst = 0;
    int count = 0;
    for (const ValidationRow& row : suite.rows) {
        if (row.published.use != use || !row.error()) continue;
        sum += std::abs(*row.error());
        worst = std::max(worst, std::abs(*row.error()));
        ++count;
    }
    if (count == 0) return "";
    return fmt::format("{} rows {}: mean |error| {:.2f} %, largest {:.2f} %\n", count, use_word(use), 100 * sum / count,
                       100 * worst);
}

std::string ratio_lines(const ValidationSuite& suite) {
    std::string text;
    for (const PublishedRatio& ratio : suite.ratios) {
        const std::optional<double> predicted = suite.predicted(ratio);
        if (!predicted) continue;
        text += fmt::format("step of {} / step of {}: predicted {:.3f}, published {} +- {}{}\n", ratio.slower,
                            ratio.faster, *predicted, ratio.ratio, ratio.band,
                            suite.exceeds(ratio) ? " EXCEEDED" : "");
    }
    return text;
}

std::string notes(const ValidationSuite& suite) {
    std::string text = ratio_lines(suite) + mean_error_line(suite, PublishedUse::predict) +
                       mean_error_line(suite, PublishedUse::fit) + figure_notes(suite.figures);
    for (const std::string& note : suite.notes) text += note + "\n";
    return text;
}

Table table_of(const ValidationSuite& suite) {
    const bool any_left_out = std::any_of(suite.rows.begin(), suite.rows.end(),
                                          [](const ValidationRow& row) { return row.left_out_s.has_value(); });
    std::vector<std::string> columns{"system",        "gpus",          "published s", "predicted s", "error",
                                     "published MFU", "predicted MFU", "use",         "band"};
    if (any_left_out) columns.emplace_back("error left out");
    Table table(columns);
    for (const ValidationRow& row : suite.rows) {
        const PublishedRow& p = row.published;
        const std::string band =
            p.band ? fmt::format("{:.0f} %{}", 100 * *p.band, row.exceeds_band() ? " EXCEEDED" : "") : "-";
        std::vector<std::string> cells{row.system,
                                       fmt::format("{}", row.gpus),
                                       p.step_s ? fmt::format("{:.2f}", *p.step_s) : "not held",
                                       fmt::format("{:.2f}", row.step_s),
                                       percent(row.error()),
                                       p.mfu ? fmt::format("{:.1f}", 100 * *p.mfu) : "not held",
                                       fmt::format("{:.1f}", 100 * row.mfu),
                                       std::string(use_word(p.use)),
                                       band};
        if (any_left_out)
            cells.push_back(percent(row.left_out_s && p.step_s ? std::optional(*row.left_out_s / *p.step_s - 1)
                                                               : std::nullopt));
        table.add(std::move(cells));
    }
    return table;
}

std::string tables_of(const ValidationSuite& suite, TableFormat format) {
    std::string text;
    if (!suite.rows.empty()) text = table_of(suite).render(format);
    if (!suite.rows.empty() && !suite.figures.empty()) text += "\n";
    if (!suite.figures.empty()) text += figure_table(suite.figures).render(format);
    if (!suite.claims.empty())
        text += format == TableFormat::text ? claims_text(suite.claims) : claims_markdown(suite.claims);
    return text;
}

}  // namespace

std::vector<SuiteEntry> choose_suites(const ValidateRequest& request) {
    const std::vector<SuiteEntry> all = validation_suites();
    std::vector<std::string> known;
    for (const SuiteEntry& entry : all) known.push_back(entry.name);
    std::vector<SuiteEntry> chosen;
    FaultList faults;
    for (const std::string& name : request.names.empty() ? known : request.names) {
        const auto at = std::find(known.begin(), known.end(), name);
        if (at != known.end()) {
            chosen.push_back(all[static_cast<std::size_t>(at - known.begin())]);
            continue;
        }
        Fault fault;
        fault.wrong = fmt::format("no suite {}", in_quotes(name));
        fault.expected = fmt::format("{}", fmt::join(known, ", "));
        const std::string near = nearest_word(name, known);
        if (!near.empty()) fault.todo = fmt::format("did you mean \"{}\"?", near);
        faults.add(std::move(fault));
    }
    faults.throw_if_any();
    if (request.markdown_path.empty()) return chosen;
    for (const SuiteEntry& entry : chosen) read_block(request.markdown_path, entry.name);
    return chosen;
}

bool ValidationRow::exceeds_band() const {
    const bool step = published.band && error() && std::abs(*error()) > *published.band;
    const bool share = published.mfu_band && published.mfu && std::abs(mfu - *published.mfu) > *published.mfu_band;
    return step || share;
}

const ValidationRow* ValidationSuite::row(const std::string& scenario) const {
    const auto at = std::find_if(rows.begin(), rows.end(),
                                 [&](const ValidationRow& row) { return row.published.scenario == scenario; });
    return at == rows.end() ? nullptr : &*at;
}

std::optional<double> ValidationSuite::predicted(const PublishedRatio& ratio) const {
    const ValidationRow *slower = row(ratio.slower), *faster = row(ratio.faster);
    return slower && faster ? std::optional(slower->step_s / faster->step_s) : std::nullopt;
}

bool ValidationSuite::exceeds(const PublishedRatio& ratio) const {
    const std::optional<double> value = predicted(ratio);
    return value && std::abs(*value - ratio.ratio) > ratio.band;
}

bool ValidationSuite::exceeds_band() const {
    return std::any_of(rows.begin(), rows.end(), [](const ValidationRow& row) { return row.exceeds_band(); }) ||
           std::any_of(ratios.begin(), ratios.end(), [&](const PublishedRatio& ratio) { return exceeds(ratio); }) ||
           std::any_of(figures.begin(), figures.end(), [](const ValidationFigure& f) { return f.exceeds_band(); });
}

std::string suite_text(const ValidationSuite& suite) {
    if (!suite.skipped.empty()) return fmt::format("{}\nskipped: {}\n", suite.title, suite.skipped);
    return suite.title + "\n" + tables_of(suite, TableFormat::text) + notes(suite);
}

std::string suite_markdown(const ValidationSuite& suite) {
    std::vector<PublishedRow> rows;
    for (const ValidationRow& row : suite.rows) rows.push_back(row.published);
    PublishedTable table{suite.name, suite.title, std::move(rows)};
    table.scenarios = suite.scenarios;
    for (const ValidationFigure& figure : suite.figures) table.figures.push_back(figure.published);
    return accuracy_block(table_fingerprint(table), tables_of(suite, TableFormat::markdown), notes(suite));
}

nlohmann::ordered_json validation_json(const std::vector<ValidationSuite>& suites,
                                       const nlohmann::ordered_json& files) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    const auto optional = [](std::optional<double> value) {
        return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
    };
    for (const ValidationSuite& suite : suites) {
        for (const ValidationRow& row : suite.rows) {
            const auto add = [&](const char* quantity, std::optional<double> published, double predicted) {
                rows.push_back({{"suite", suite.name},
                                {"scenario", row.published.scenario},
                                {"system", row.system},
                                {"gpus", row.gpus},
                                {"quantity", quantity},
                                {"published", optional(published)},
                                {"predicted", predicted},
                                {"error", published ? nlohmann::ordered_json(predicted / *published - 1)
                                                    : nlohmann::ordered_json()},
                                {"status", use_word(row.published.use)}});
            };
            add("step_time_s", row.published.step_s, row.step_s);
            add("mfu", row.published.mfu, row.mfu);
        }
        for (const ValidationFigure& figure : suite.figures) {
            const PublishedFigure& p = figure.published;
            rows.push_back({{"suite", suite.name},
                            {"scenario", p.scenario},
                            {"quantity", p.quantity},
                            {"unit", p.unit},
                            {"published", optional(p.value)},
                            {"predicted", figure.predicted},
                            {"error", optional(figure.error())},
                            {"status", use_word(p.use)}});
        }
    }
    nlohmann::ordered_json claims = nlohmann::ordered_json::array();
    for (const ValidationSuite& suite : suites)
        for (const ClaimRow& row : suite.claims) claims.push_back(claim_json(suite.name, row));
    nlohmann::ordered_json document{{"schema_version", 1}};
    if (!claims.empty()) document["claims"] = std::move(claims);
    if (!rows.empty()) document["rows"] = std::move(rows);
    if (!files.empty()) document["files"] = files;
    return document;
}

std::vector<ValidationSuite> validate_command(const ValidateRequest& request) {
    std::vector<ValidationSuite> suites;
    for (const SuiteEntry& entry : choose_suites(request)) {
        suites.push_back(entry.compute(request));
        fmt::print("{}\n", suite_text(suites.back()));
        if (request.markdown_path.empty() || !suites.back().skipped.empty()) continue;
        write_block(request.markdown_path, entry.name, suite_markdown(suites.back()));
        fmt::print("written: block {} of {}\n", entry.name, request.markdown_path);
    }
    return suites;
}

}  // namespace rehearse

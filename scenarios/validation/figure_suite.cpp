#include "scenarios/validation/figure_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/validation.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

// Four digits, without an exponent: 1.245, 153, 0.0417, 9164.
std::string figure(double value) {
    const double size = std::abs(value);
    const int digits = size == 0 ? 3 : std::max(0, 3 - static_cast<int>(std::floor(std::log10(size))));
    std::string text = fmt::format("{:.{}f}", value, digits);
    if (text.find('.') == text.npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string in_unit(double value, const std::string& unit) {
    return unit.empty() ? figure(value) : fmt::format("{} {}", figure(value), unit);
}

std::string range_text(const PublishedFigure& p) {
    if (p.least && p.most) return fmt::format("{} to {}", figure(*p.least), in_unit(*p.most, p.unit));
    if (p.least) return "at least " + in_unit(*p.least, p.unit);
    if (p.most) return "at most " + in_unit(*p.most, p.unit);
    return "not held";
}

std::string published_cell(const PublishedFigure& p) {
    return p.value ? in_unit(*p.value, p.unit) : range_text(p);
}

std::string band_cell(const ValidationFigure& row) {
    const PublishedFigure& p = row.published;
    std::string band = "-";
    if (p.band) band = fmt::format("{:.0f} %", 100 * *p.band);
    else if (p.within) band = in_unit(*p.within, p.unit);
    else if (p.value && (p.least || p.most)) band = range_text(p);
    else if (p.least || p.most) band = "range";
    return row.exceeds_band() ? band + " EXCEEDED" : band;
}

}  // namespace

std::optional<double> ValidationFigure::error() const {
    return published.value ? std::optional(predicted / *published.value - 1) : std::nullopt;
}

bool ValidationFigure::exceeds_band() const {
    const PublishedFigure& p = published;
    const bool relative = p.band && std::abs(*error()) > *p.band;
    const bool absolute = p.within && std::abs(predicted - *p.value) > *p.within;
    return relative || absolute || (p.least && predicted < *p.least) || (p.most && predicted > *p.most);
}

std::vector<ValidationFigure> with_predictions(const PublishedTable& table, const FigurePredictions& predicted) {
    std::vector<ValidationFigure> figures;
    for (const PublishedFigure& published : table.figures) {
        const auto at = predicted.find(published.quantity);
        REHEARSE_CHECK(at != predicted.end(), fmt::format("no prediction is called {}", published.quantity));
        figures.push_back({published, at->second});
    }
    return figures;
}

Table figure_table(const std::vector<ValidationFigure>& figures) {
    Table table({"quantity", "published", "predicted", "error", "use", "band"});
    for (const ValidationFigure& row : figures) {
        const std::optional<double> error = row.error();
        table.add({row.published.quantity, published_cell(row.published), in_unit(row.predicted, row.published.unit),
                   error ? fmt::format("{:+.1f} %", 100 * *error) : "-", std::string(use_word(row.published.use)),
                   band_cell(row)});
    }
    return table;
}

std::string figure_notes(const std::vector<ValidationFigure>& figures) {
    std::string text;
    for (const PublishedUse use : {PublishedUse::predict, PublishedUse::fit}) {
        int bounded = 0, kept = 0;
        for (const ValidationFigure& row : figures) {
            const PublishedFigure& p = row.published;
            if (p.use != use || !p.has_bound()) continue;
            ++bounded;
            kept += row.exceeds_band() ? 0 : 1;
        }
        if (bounded > 0)
            text += fmt::format("{} of {} figures {} are within their bands\n", kept, bounded, use_word(use));
    }
    return text;
}

std::string table_fingerprint(const PublishedTable& table) {
    std::vector<PublishedRow> rows = table.rows;
    for (const std::string& scenario : table.scenarios) rows.push_back({scenario, {}, {}, {}, {}, {}, {}});
    if (table.figures.empty()) return inputs_fingerprint(rows);
    Fingerprint inputs;
    inputs.add(std::string_view(inputs_fingerprint(rows)));
    const auto text = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : "-"; };
    for (const PublishedFigure& p : table.figures)
        inputs.add(std::string_view(fmt::format("{}|{}|{}|{}|{}|{}|{}", p.scenario, p.quantity, p.unit, text(p.value),
                                                text(p.least), text(p.most), static_cast<int>(p.use))));
    return fmt::format("{:016x}", inputs.value());
}

SuiteEntry figure_suite(const std::string& name, const std::string& what,
                        FigurePredictions (*predict)(const PublishedTable&),
                        PublishedTable (*table)(const std::string& name)) {
    SuiteEntry entry{name, what, {}, {}};
    entry.inputs = [=] { return table_fingerprint(table(name)); };
    entry.compute = [=](const ValidateRequest&) {
        const PublishedTable published = table(name);
        ValidationSuite suite{name, published.title, {}};
        suite.figures = with_predictions(published, predict(published));
        suite.scenarios = published.scenarios;
        suite.notes = published.notes;
        return suite;
    };
    return entry;
}

}  // namespace rehearse

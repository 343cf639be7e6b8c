#include "scenarios/validation/quantity_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "scenarios/installation.hpp"
#include "scenarios/validation/accuracy.hpp"
#include "scenarios/validation/validation.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fingerprint.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"

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

std::string range_text(const PublishedQuantity& p) {
    if (p.least && p.most) return fmt::format("{} to {}", figure(*p.least), in_unit(*p.most, p.unit));
    if (p.least) return "at least " + in_unit(*p.least, p.unit);
    if (p.most) return "at most " + in_unit(*p.most, p.unit);
    return "not held";
}

std::string published_cell(const PublishedQuantity& p) {
    return p.value ? in_unit(*p.value, p.unit) : range_text(p);
}

std::string band_cell(const QuantityRow& row) {
    const PublishedQuantity& p = row.published;
    std::string band = "-";
    if (p.band) band = fmt::format("{:.0f} %", 100 * *p.band);
    else if (p.within) band = in_unit(*p.within, p.unit);
    else if (p.value && (p.least || p.most)) band = range_text(p);
    else if (p.least || p.most) band = "range";
    return row.exceeds_band() ? band + " EXCEEDED" : band;
}

}  // namespace

std::optional<double> QuantityRow::error() const {
    return published.value ? std::optional(predicted / *published.value - 1) : std::nullopt;
}

bool QuantityRow::exceeds_band() const {
    const PublishedQuantity& p = published;
    const bool relative = p.band && std::abs(*error()) > *p.band;
    const bool absolute = p.within && std::abs(predicted - *p.value) > *p.within;
    return relative || absolute || (p.least && predicted < *p.least) || (p.most && predicted > *p.most);
}

PublishedQuantity read_figures(Reader& row) {
    PublishedQuantity p;
    row.read("unit", p.unit);
    row.read("source", p.source);
    row.read_enum("use", p.use,
                  {{"none", PublishedUse::none}, {"fit", PublishedUse::fit}, {"predict", PublishedUse::predict}});
    const auto real = [&](const char* key, std::optional<double>& value, RealRange range) {
        if (row.has(key)) row.read(key, value.emplace(), range);
    };
    real("value", p.value, any_real());
    real("least", p.least, any_real());
    real("most", p.most, any_real());
    real("within", p.within, {});
    if (row.has("band")) {
        Ratio band;
        row.read("band", band);
        p.band = band.value;
    }
    if (p.value || p.least || p.most) row.require("source", "a published figure names its source");
    if (p.band && p.within) row.fault("within", "two bands", "band or within");
    return p;
}

QuantityTable read_quantities(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    QuantityTable table;
    root.read("suite", table.suite);
    root.read("title", table.title);
    root.read("scenarios", table.scenarios);
    root.read("notes", table.notes);
    std::set<std::string> names;
    for (Reader& row : root.children("rows")) {
        PublishedQuantity& published = table.rows.emplace_back(read_figures(row));
        row.require("quantity", "a suite finds its rows by it");
        row.read("quantity", published.quantity);
        if (published.band || published.within) row.require("value", "a band is around a published figure");
        if (!names.insert(published.quantity).second)
            row.fault("quantity", "a second row of this name", "each quantity once");
        row.finish();
    }
    root.finish();
    faults.throw_if_any();
    return table;
}

QuantityTable published_quantities(const std::string& suite) {
    return read_quantities(data_path("tests/validation/" + suite + ".yaml").string());
}

std::vector<QuantityRow> with_predictions(const QuantityTable& table, const QuantityPredictions& predicted) {
    std::vector<QuantityRow> rows;
    for (const PublishedQuantity& published : table.rows) {
        const auto at = predicted.find(published.quantity);
        REHEARSE_CHECK(at != predicted.end(), "every row of a suite is predicted");
        rows.push_back({published, at->second});
    }
    return rows;
}

Table quantity_table(const std::vector<QuantityRow>& rows) {
    Table table({"quantity", "published", "predicted", "error", "use", "band"});
    for (const QuantityRow& row : rows) {
        const std::optional<double> error = row.error();
        table.add({row.published.quantity, published_cell(row.published), in_unit(row.predicted, row.published.unit),
                   error ? fmt::format("{:+.1f} %", 100 * *error) : "-", std::string(use_word(row.published.use)),
                   band_cell(row)});
    }
    return table;
}

std::string quantity_notes(const std::vector<QuantityRow>& rows) {
    std::string text;
    for (const PublishedUse use : {PublishedUse::predict, PublishedUse::fit}) {
        int bounded = 0, kept = 0;
        for (const QuantityRow& row : rows) {
            const PublishedQuantity& p = row.published;
            if (p.use != use || !p.has_bound()) continue;
            ++bounded;
            kept += row.exceeds_band() ? 0 : 1;
        }
        if (bounded > 0) text += fmt::format("{} of {} rows {} are within their bands\n", kept, bounded, use_word(use));
    }
    return text;
}

std::string suite_fingerprint(std::vector<PublishedRow> rows, const QuantityTable& quantities) {
    for (const std::string& scenario : quantities.scenarios) rows.push_back({scenario, {}, {}, {}, {}, {}, {}});
    if (quantities.rows.empty()) return inputs_fingerprint(rows);
    Fingerprint inputs;
    inputs.add(std::string_view(inputs_fingerprint(rows)));
    const auto text = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : "-"; };
    for (const PublishedQuantity& p : quantities.rows)
        inputs.add(std::string_view(fmt::format("{}|{}|{}|{}|{}|{}", p.quantity, p.unit, text(p.value), text(p.least),
                                                text(p.most), static_cast<int>(p.use))));
    return fmt::format("{:016x}", inputs.value());
}

SuiteEntry quantity_suite(const std::string& name, const std::string& what,
                          QuantityPredictions (*predict)(const QuantityTable&),
                          QuantityTable (*table)(const std::string& name)) {
    SuiteEntry entry{name, what, {}, {}};
    entry.inputs = [=] { return suite_fingerprint({}, table(name)); };
    entry.compute = [=](const ValidateRequest&) {
        QuantityTable published = table(name);
        ValidationSuite suite{name, published.title, {}};
        suite.quantities = with_predictions(published, predict(published));
        suite.published = std::move(published);
        return suite;
    };
    return entry;
}

}  // namespace rehearse

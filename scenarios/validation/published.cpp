#include "scenarios/validation/published.hpp"

#include <algorithm>

#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

namespace {

PublishedRow read_row(Reader row) {
    PublishedRow published;
    row.require("scenario");
    row.read("scenario", published.scenario);
    row.read("source", published.source);
    row.read_enum("use", published.use,
                  {{"none", PublishedUse::none}, {"fit", PublishedUse::fit}, {"predict", PublishedUse::predict}});
    const auto ratio = [&](const char* key, std::optional<double>& value) {
        Ratio read;
        if (!row.has(key)) return;
        row.read(key, read);
        value = read.value;
    };
    ratio("mfu", published.mfu);
    ratio("band", published.band);
    ratio("mfu_band", published.mfu_band);
    if (row.has("step")) {
        SimDuration step;
        row.read("step", step);
        published.step_s = step.seconds();
        row.require("source", "a published figure names its source");
    }
    row.finish();
    return published;
}

PublishedRatio read_ratio(Reader entry) {
    PublishedRatio published;
    for (const char* key : {"slower", "faster", "ratio", "band", "source"}) entry.require(key);
    entry.read("slower", published.slower);
    entry.read("faster", published.faster);
    entry.read("ratio", published.ratio);
    entry.read("band", published.band);
    entry.read("source", published.source);
    entry.finish();
    return published;
}

PublishedFigure read_figure(Reader entry) {
    PublishedFigure published;
    for (const char* key : {"scenario", "quantity"}) entry.require(key);
    entry.read("scenario", published.scenario);
    entry.read("quantity", published.quantity);
    entry.read("unit", published.unit);
    if (entry.has("value")) {
        entry.read("value", published.value.emplace());
        entry.require("source", "a published figure names its source");
    }
    const auto ratio = [&](const char* key, std::optional<double>& value) {
        Ratio read;
        if (!entry.has(key)) return;
        entry.read(key, read);
        value = read.value;
    };
    ratio("band", published.band);
    ratio("least", published.least);
    entry.read("source", published.source);
    entry.finish();
    return published;
}

}  // namespace

PublishedTable read_published(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    PublishedTable table;
    root.read("suite", table.suite);
    root.read("title", table.title);
    for (Reader& row : root.children("rows")) table.rows.push_back(read_row(row));
    for (Reader& ratio : root.children("ratios")) table.ratios.push_back(read_ratio(ratio));
    for (Reader& figure : root.children("figures")) table.figures.push_back(read_figure(figure));
    root.finish();
    faults.throw_if_any();
    return table;
}

std::map<std::string, double> read_error_bands(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    std::map<std::string, double> bands;
    for (Reader& entry : root.children("bands")) {
        std::string file;
        Ratio mape;
        entry.read("file", file);
        entry.read("mape", mape);
        entry.finish();
        bands[file] = mape.value;
    }
    root.finish();
    faults.throw_if_any();
    return bands;
}

PublishedTable held_rows(PublishedTable table) {
    const auto is_compared = [&](const PublishedRow& row) {
        return std::any_of(table.ratios.begin(), table.ratios.end(), [&](const PublishedRatio& ratio) {
            return ratio.slower == row.scenario || ratio.faster == row.scenario;
        });
    };
    std::erase_if(table.rows, [&](const PublishedRow& row) { return !row.step_s && !is_compared(row); });
    return table;
}

}  // namespace rehearse

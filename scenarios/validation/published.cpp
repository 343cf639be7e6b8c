#include "scenarios/validation/published.hpp"

#include <algorithm>
#include <set>

#include "scenarios/installation.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

namespace {

void read_use(Reader& row, PublishedUse& use) {
    row.read_enum("use", use,
                  {{"none", PublishedUse::none}, {"fit", PublishedUse::fit}, {"predict", PublishedUse::predict}});
}

void read_ratio(Reader& row, const char* key, std::optional<double>& value) {
    Ratio read;
    if (!row.has(key)) return;
    row.read(key, read);
    value = read.value;
}

PublishedRow read_row(Reader row) {
    PublishedRow published;
    row.require("scenario");
    row.read("scenario", published.scenario);
    row.read("source", published.source);
    read_use(row, published.use);
    read_ratio(row, "mfu", published.mfu);
    read_ratio(row, "band", published.band);
    read_ratio(row, "mfu_band", published.mfu_band);
    if (row.has("step")) {
        SimDuration step;
        row.read("step", step);
        published.step_s = step.seconds();
        row.require("source", "a published figure names its source");
    }
    row.finish();
    return published;
}

PublishedRatio read_step_ratio(Reader entry) {
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

void read_figures(Reader& root, std::vector<PublishedFigure>& figures) {
    std::set<std::pair<std::string, std::string>> names;
    for (Reader& entry : root.children("figures")) {
        PublishedFigure& figure = figures.emplace_back(read_figure(entry));
        entry.require("quantity", "a suite finds its figures by it");
        entry.read("quantity", figure.quantity);
        entry.read("scenario", figure.scenario);
        if (figure.band || figure.within) entry.require("value", "a band is around a published figure");
        if (!names.insert({figure.scenario, figure.quantity}).second)
            entry.fault("quantity", "a second figure of this name", "each one once");
        entry.finish();
    }
}

}  // namespace

std::string_view use_word(PublishedUse use) {
    switch (use) {
        case PublishedUse::fit: return "fitted";
        case PublishedUse::predict: return "predicted";
        case PublishedUse::none: break;
    }
    return "not held";
}

PublishedFigure read_figure(Reader& entry) {
    PublishedFigure figure;
    entry.read("unit", figure.unit);
    entry.read("source", figure.source);
    const auto real = [&](const char* key, std::optional<double>& value, RealRange range) {
        if (entry.has(key)) entry.read(key, value.emplace(), range);
    };
    real("value", figure.value, any_real());
    real("least", figure.least, any_real());
    real("most", figure.most, any_real());
    real("within", figure.within, {});
    read_ratio(entry, "band", figure.band);
    if (figure.band && figure.within) entry.fault("within", "two bands", "band or within");
    if (figure.value || figure.least || figure.most) {
        entry.require("source", "a published figure names its source");
        figure.use = PublishedUse::predict;
    }
    read_use(entry, figure.use);
    return figure;
}

PublishedTable published_suite(const std::string& suite) {
    return read_published(data_path("tests/validation/" + suite + ".yaml").string());
}

PublishedTable read_published(const std::string& path) {
    const ConfigNode tree = load_config(path);
    FaultList faults;
    Reader root(tree, "", faults);
    PublishedTable table;
    root.read("suite", table.suite);
    root.read("title", table.title);
    for (Reader& row : root.children("rows")) table.rows.push_back(read_row(row));
    for (Reader& ratio : root.children("ratios")) table.ratios.push_back(read_step_ratio(ratio));
    read_figures(root, table.figures);
    root.read("scenarios", table.scenarios);
    root.read("notes", table.notes);
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

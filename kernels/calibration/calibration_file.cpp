#include "kernels/calibration/calibration_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/checks.hpp"
#include "sim/base/quantile.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/reader.hpp"

namespace rehearse {

namespace {

constexpr std::int64_t schema_version = 1;
constexpr double seconds_most = 1e6;  // nobody waits for a sample of two weeks
// 0 is no time, and what is longer is in other units.
constexpr RealRange seconds_range{1e-12, seconds_most};

void read_shape(Reader& parent, std::string_view key, SampleShape& shape) {
    Reader reader = parent.child(key);
    for (const std::string& name : reader.keys()) {
        std::int64_t value = 0;
        reader.read(name, value);
        shape.emplace_back(name, value);
    }
}

void read_device(Reader reader, CalibrationDevice& device) {
    reader.require("name");
    reader.require("kind");
    reader.read("name", device.name);
    if (reader.has("name") && device.name.empty()) reader.fault("name", "the name is empty");
    reader.read_enum("kind", device.kind, {{"cpu", DeviceKind::cpu}, {"gpu", DeviceKind::gpu}});
    reader.read("count", device.count, at_least(1));
    reader.read("driver", device.driver);
    reader.read("clocks", device.clocks);
    reader.finish();
}

bool is_date(const std::string& text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    for (const std::size_t i : {0, 1, 2, 3, 5, 6, 8, 9}) {
        if (text[i] < '0' || text[i] > '9') return false;
    }
    const std::string month = text.substr(5, 2), day = text.substr(8, 2);
    return month >= "01" && month <= "12" && day >= "01" && day <= "31";
}

CalibrationSample read_sample(Reader reader) {
    CalibrationSample sample;
    for (const char* key : {"what", "kind", "seconds"}) reader.require(key);
    reader.read("what", sample.what);
    reader.read_enum(
        "kind", sample.kind,
        {{"kernel", SampleKind::kernel}, {"collective", SampleKind::collective}, {"policy", SampleKind::policy}});
    read_shape(reader, "shape", sample.shape);
    reader.read("precision", sample.precision);
    reader.read("algorithm", sample.algorithm);
    reader.read("seconds", sample.seconds, seconds_range);
    const ConfigNode* seconds = reader.node().find("seconds");
    if (seconds != nullptr && seconds->kind == ConfigNode::Kind::list && seconds->items.empty())
        reader.fault("seconds", "the list is empty", "expected at least one time");
    reader.finish();
    return sample;
}

CalibrationFit read_fit(Reader reader, std::size_t samples) {
    CalibrationFit fit;
    for (const char* key : {"what", "form", "mean_abs_error"}) reader.require(key);
    reader.read("what", fit.what);
    reader.read("form", fit.form);
    read_shape(reader, "shape", fit.shape);
    Reader parameters = reader.child("parameters");
    for (const std::string& name : parameters.keys()) {
        double value = 0;
        parameters.read(name, value, any_real());
        fit.parameters.emplace_back(name, value);
    }
    reader.read("rows", fit.rows);
    reader.read("residuals", fit.residuals, any_real());
    reader.read("mean_abs_error", fit.mean_abs_error);
    for (const std::int64_t row : fit.rows) {
        if (static_cast<std::size_t>(row) >= samples)
            reader.fault("rows", fmt::format("there is no sample {}", row), fmt::format("the file has {}", samples));
    }
    if (fit.residuals.size() != fit.rows.size())
        reader.fault("residuals", fmt::format("{} residuals for {} rows", fit.residuals.size(), fit.rows.size()),
                     "expected one of each row");
    reader.finish();
    return fit;
}

void read_heads(Reader& root, CalibrationFile& calibration) {
    std::int64_t version = schema_version;
    for (const char* key : {"schema_version", "device", "source", "samples"}) root.require(key);
    root.read("schema_version", version, {schema_version, schema_version});
    if (root.has("device")) read_device(root.child("device"), calibration.device);
    for (Reader item : root.children("software")) {
        SoftwareVersion& software = calibration.software.emplace_back();
        item.require("name");
        item.require("version");
        item.read("name", software.name);
        item.read("version", software.version);
        item.finish();
    }
    root.read("date", calibration.date);
    if (!calibration.date.empty() && !is_date(calibration.date))
        root.fault("date", fmt::format("{} is no date", in_quotes(calibration.date)), "expected YYYY-MM-DD");
    Reader source = root.child("source");
    source.read("command", calibration.source.command);
    source.read("files", calibration.source.files);
    source.read("origin", calibration.source.origin);
    source.finish();
}

CalibrationFile read_tree(const ConfigNode& tree) {
    FaultList faults;
    Reader root(tree, "", faults);
    CalibrationFile calibration;
    read_heads(root, calibration);
    std::map<std::string, std::size_t> seen;
    for (Reader item : root.children("samples")) {
        const CalibrationSample& sample = calibration.samples.emplace_back(read_sample(item));
        const auto [first, is_new] = seen.emplace(label_of(sample), calibration.samples.size() - 1);
        if (!is_new)
            item.fault("what", fmt::format("{} stands twice", label_of(sample)), "",
                       fmt::format("put its times into sample {}", first->second));
    }
    for (Reader item : root.children("fits")) calibration.fits.push_back(read_fit(item, calibration.samples.size()));
    root.finish();
    faults.throw_if_any();
    return calibration;
}

}  // namespace

double median_seconds(const CalibrationSample& sample) { return median(sample.seconds); }

double relative_spread(const CalibrationSample& sample) { return relative_spread(sample.seconds); }

CalibrationFile read_calibration_file(const std::string& path) { return read_tree(load_config(path)); }

CalibrationFile parse_calibration(const std::string& text, const std::string& name) {
    return read_tree(parse_config(text, name));
}

const char* name_of(DeviceKind kind) { return kind == DeviceKind::cpu ? "cpu" : "gpu"; }

const char* name_of(SampleKind kind) {
    if (kind == SampleKind::kernel) return "kernel";
    return kind == SampleKind::collective ? "collective" : "policy";
}

std::string to_text(const SampleShape& shape) {
    std::string text;
    for (const auto& [name, value] : shape) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    return text;
}

std::string label_of(const CalibrationSample& sample) {
    std::string label = sample.what;
    for (const std::string& part : {to_text(sample.shape), sample.precision, sample.algorithm}) {
        if (!part.empty()) label += " " + part;
    }
    return label;
}

std::optional<TextFault> device_mismatch(const CalibrationFile& calibration, const std::string& local_device) {
    if (calibration.device.name == local_device) return std::nullopt;
    return TextFault{
        fmt::format("calibrated on {}, this is {}", in_quotes(calibration.device.name), in_quotes(local_device)), "",
        "measure here with `rehearse calibrate run`, or pass --force-device"};
}

}  // namespace rehearse

// The writer of calibration_file.hpp.
#include "kernels/calibration/calibration_file.hpp"
#include "sim/config/yaml_writer.hpp"

namespace rehearse {

namespace {

void write_text(YamlWriter& yaml, std::string_view key, const std::string& text) {
    if (!text.empty()) yaml.value(key, text);
}

template <class Number>
void write_map(YamlWriter& yaml, std::string_view key, const std::vector<std::pair<std::string, Number>>& map) {
    if (map.empty()) return;
    yaml.begin_map(key);
    for (const auto& [name, value] : map) yaml.value(name, value);
    yaml.end();
}

void write_heads(YamlWriter& yaml, const CalibrationFile& calibration) {
    yaml.value("schema_version", 1);
    yaml.begin_map("device");
    yaml.value("name", calibration.device.name);
    yaml.value("kind", name_of(calibration.device.kind));
    if (calibration.device.count > 0) yaml.value("count", calibration.device.count);
    write_text(yaml, "driver", calibration.device.driver);
    write_text(yaml, "clocks", calibration.device.clocks);
    yaml.end();
    yaml.begin_list("software");
    for (const SoftwareVersion& software : calibration.software) {
        yaml.begin_item();
        yaml.value("name", software.name);
        yaml.value("version", software.version);
        yaml.end();
    }
    yaml.end();
    write_text(yaml, "date", calibration.date);
    yaml.begin_map("source");
    write_text(yaml, "command", calibration.source.command);
    if (!calibration.source.files.empty()) yaml.list("files", calibration.source.files);
    write_text(yaml, "origin", calibration.source.origin);
    yaml.end();
}

void write_sample(YamlWriter& yaml, const CalibrationSample& sample) {
    yaml.begin_item();
    yaml.value("what", sample.what);
    yaml.value("kind", name_of(sample.kind));
    write_map(yaml, "shape", sample.shape);
    write_text(yaml, "precision", sample.precision);
    write_text(yaml, "algorithm", sample.algorithm);
    yaml.list("seconds", sample.seconds);
    yaml.end();
}

void write_fit(YamlWriter& yaml, const CalibrationFit& fit) {
    yaml.begin_item();
    yaml.value("what", fit.what);
    yaml.value("form", fit.form);
    write_map(yaml, "shape", fit.shape);
    write_map(yaml, "parameters", fit.parameters);
    yaml.list("rows", fit.rows);
    yaml.list("residuals", fit.residuals);
    yaml.value("mean_abs_error", fit.mean_abs_error);
    yaml.end();
}

}  // namespace

std::string to_yaml(const CalibrationFile& calibration) {
    YamlWriter yaml;
    write_heads(yaml, calibration);
    yaml.begin_list("samples");
    for (const CalibrationSample& sample : calibration.samples) write_sample(yaml, sample);
    yaml.end();
    yaml.begin_list("fits");
    for (const CalibrationFit& fit : calibration.fits) write_fit(yaml, fit);
    yaml.end();
    return yaml.text();
}

}  // namespace rehearse

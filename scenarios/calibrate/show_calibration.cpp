#include "scenarios/calibrate/show_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "sim/base/fault.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

std::string time_text(double seconds) {
    if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
    return fmt::format("{:.4g} us", seconds * 1e6);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string head_text(const CalibrationFile& calibration) {
    const CalibrationDevice& device = calibration.device;
    std::string text = fmt::format("device    {}{} ({})\n", device.count > 0 ? fmt::format("{} x ", device.count) : "",
                                   device.name, name_of(device.kind));
    const auto line = [&](const char* name, const std::string& value) {
        if (!value.empty()) text += fmt::format("{:<9} {}\n", name, value);
    };
    line("driver", device.driver);
    line("clocks", device.clocks);
    for (const SoftwareVersion& software : calibration.software)
        line("software", software.name + " " + software.version);
    line("date", calibration.date);
    line("command", calibration.source.command);
    for (const std::string& file : calibration.source.files) line("file", file);
    line("origin", calibration.source.origin);
    return text;
}

std::string samples_text(const CalibrationFile& calibration) {
    Table table({"what", "kind", "shape", "precision", "algorithm", "times", "median", "spread"});
    for (const CalibrationSample& sample : calibration.samples) {
        table.add({sample.what, name_of(sample.kind), or_dash(to_text(sample.shape)), or_dash(sample.precision),
                   or_dash(sample.algorithm), fmt::format("{}", sample.seconds.size()),
                   time_text(median_seconds(sample)),
                   sample.seconds.size() > 1 ? fmt::format("{:.1f} %", 100 * relative_spread(sample)) : "-"});
    }
    return fmt::format("\n{} samples (spread: between the quartiles, of the median)\n{}", calibration.samples.size(),
                       table.render(TableFormat::text));
}

std::string fits_text(const CalibrationFile& calibration) {
    if (calibration.fits.empty()) return "\nno fits\n";
    Table table({"what", "form", "shape", "parameters", "rows", "mean |error|", "largest"});
    for (const CalibrationFit& fit : calibration.fits) {
        std::string parameters;
        for (const auto& [name, value] : fit.parameters)
            parameters += fmt::format("{}{}={:.6g}", parameters.empty() ? "" : " ", name, value);
        double largest = 0;
        for (const double residual : fit.residuals) largest = std::max(largest, residual < 0 ? -residual : residual);
        table.add({fit.what, fit.form, or_dash(to_text(fit.shape)), or_dash(parameters),
                   fmt::format("{}", fit.rows.size()), fmt::format("{:.2f} %", 100 * fit.mean_abs_error),
                   fmt::format("{:.2f} %", 100 * largest)});
    }
    return fmt::format("\n{} fits\n{}", calibration.fits.size(), table.render(TableFormat::text));
}

}  // namespace

std::string calibration_text(const CalibrationFile& calibration) {
    return head_text(calibration) + samples_text(calibration) + fits_text(calibration);
}

std::string calibration_diff(const CalibrationFile& a, const CalibrationFile& b) {
    std::map<std::string, const CalibrationSample*> of_b;
    for (const CalibrationSample& sample : b.samples) of_b.emplace(label_of(sample), &sample);
    Table table({"sample", "median A", "median B", "B / A"});
    for (const CalibrationSample& sample : a.samples) {
        const double median = median_seconds(sample);
        const auto other = of_b.find(label_of(sample));
        if (other == of_b.end()) {
            table.add({label_of(sample), time_text(median), "-", "-"});
            continue;
        }
        const double median_b = median_seconds(*other->second);
        table.add({label_of(sample), time_text(median), time_text(median_b), fmt::format("{:.3f}", median_b / median)});
        of_b.erase(other);
    }
    for (const CalibrationSample& sample : b.samples) {
        if (of_b.count(label_of(sample)) > 0)
            table.add({label_of(sample), "-", time_text(median_seconds(sample)), "-"});
    }
    const std::size_t both = b.samples.size() - of_b.size();
    return fmt::format("{}{} samples in both, {} only in A, {} only in B\n", table.render(TableFormat::text), both,
                       a.samples.size() - both, of_b.size());
}

int show_command(const std::string& path) {
    fmt::print("{}", calibration_text(read_calibration_file(path)));
    return 0;
}

int diff_command(const std::string& path_a, const std::string& path_b) {
    const CalibrationFile a = read_calibration_file(path_a), b = read_calibration_file(path_b);
    if (a.device.name != b.device.name)
        fmt::print(stderr, "rehearse: the devices differ: A was measured on {}, B on {}\n", in_quotes(a.device.name),
                   in_quotes(b.device.name));
    fmt::print("{}", calibration_diff(a, b));
    return 0;
}

}  // namespace rehearse

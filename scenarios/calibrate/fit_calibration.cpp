#include "scenarios/calibrate/fit_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "models/calibration/curve_fit.hpp"
#include "models/compute/attention_fit.hpp"
#include "models/compute/gemm_surface.hpp"
#include "scenarios/calibrate/show_calibration.hpp"
#include "scenarios/text_file.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

constexpr std::array size_keys{"bytes", "tokens", "rows", "elements"};
constexpr std::array fitted_forms{"alpha_beta", "piecewise", "gemm_surface", "attention"};

std::optional<std::int64_t> find(const SampleShape& shape, std::string_view key) {
    const auto at = std::ranges::find(shape, key, &SampleShape::value_type::first);
    return at == shape.end() ? std::nullopt : std::optional(at->second);
}

SampleShape without(SampleShape shape, std::string_view key) {
    std::erase_if(shape, [&](const auto& side) { return side.first == key; });
    return shape;
}

bool is_attention(const SampleShape& shape) { return find(shape, "flops") && find(shape, "bytes"); }
bool is_gemm(const SampleShape& shape) { return find(shape, "m") && find(shape, "n") && find(shape, "k"); }

std::string size_key(const SampleShape& shape) {
    for (const char* key : size_keys) {
        if (find(shape, key)) return key;
    }
    return "";
}

enum class Form : std::uint8_t { curve, surface, attention };

// Samples that one fit goes through.
struct Group {
    std::string what, size;  // size: key of the shape; curve
    SampleShape shape;       // that they have in common
    std::vector<std::int64_t> rows;
    Form form = Form::curve;
};

std::vector<Group> groups_of(const std::vector<CalibrationSample>& samples) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const CalibrationSample& sample = samples[i];
        Group group{sample.what, "", {}, {}, Form::curve};
        if (is_gemm(sample.shape)) {
            group.form = Form::surface;
            group.shape = without(without(without(without(sample.shape, "m"), "n"), "k"), "batch");
        } else if (is_attention(sample.shape)) {
            group.form = Form::attention;
            group.shape = without(without(sample.shape, "flops"), "bytes");
        } else {
            group.size = size_key(sample.shape);
            if (group.size.empty()) continue;
            group.shape = without(sample.shape, group.size);
        }
        const std::string key = fmt::format("{}|{}|{}|{}|{}", group.what, sample.precision, sample.algorithm,
                                            group.size, to_text(group.shape));
        if (at.emplace(key, groups.size()).second) groups.push_back(std::move(group));
        groups[at.at(key)].rows.push_back(static_cast<std::int64_t>(i));
    }
    return groups;
}

const CalibrationSample& sample_of(const CalibrationFile& file, std::int64_t row) {
    return file.samples[static_cast<std::size_t>(row)];
}

CalibrationFit fit_of(const Group& group, std::string form, std::vector<double> residuals) {
    CalibrationFit fit{group.what, std::move(form), group.shape, {}, group.rows, std::move(residuals), 0};
    fit.mean_abs_error = summarise_residuals(fit.residuals).mean;
    return fit;
}

void add_curves(const CalibrationFile& file, const Group& group, std::vector<CalibrationFit>& fits) {
    std::vector<CurvePoint> points;
    std::vector<double> sizes;
    for (const std::int64_t row : group.rows) {
        const CalibrationSample& sample = sample_of(file, row);
        sizes.push_back(static_cast<double>(*find(sample.shape, group.size)));
        points.push_back({sizes.back(), median_seconds(sample)});
    }
    std::ranges::sort(sizes);
    if (sizes.front() <= 0 || std::ranges::unique(sizes).begin() < sizes.begin() + 2) return;
    const std::span<const CurvePoint> all = points;
    const AlphaBeta line = fit_alpha_beta(all);
    fits.push_back(fit_of(group, "alpha_beta", curve_residuals(line, all)));
    fits.back().parameters = {{"alpha_s", line.latency_s}};
    if (line.seconds_per_byte > 0)
        fits.back().parameters.emplace_back(group.size == "bytes" ? "beta_Bps" : "beta_per_s",
                                            1 / line.seconds_per_byte);
    const PiecewiseCurve curve = fit_piecewise(all, {});
    fits.push_back(fit_of(group, "piecewise", curve_residuals(curve, all)));
    for (std::size_t i = 0; i < curve.knots.size(); ++i) {
        fits.back().parameters.emplace_back(fmt::format("{}_{}", group.size, i), std::round(curve.knots[i].bytes));
        fits.back().parameters.emplace_back(fmt::format("seconds_{}", i), curve.knots[i].seconds);
    }
}

void add_surface(const CalibrationFile& file, const Group& group, std::vector<CalibrationFit>& fits) {
    std::vector<GemmPoint> points;
    for (const std::int64_t row : group.rows) {
        const CalibrationSample& sample = sample_of(file, row);
        points.push_back({find(sample.shape, "batch").value_or(1), *find(sample.shape, "m"), *find(sample.shape, "n"),
                          *find(sample.shape, "k"), median_seconds(sample)});
    }
    if (points.size() < 5) return;
    const GemmSurface s = fit_gemm_surface(points);
    fits.push_back(fit_of(group, "gemm_surface", gemm_errors(s, points)));
    fits.back().parameters = {{"launch_s", s.launch}, {"flop_s", s.flop}, {"result_s", s.result}, {"left_s", s.left},
                              {"right_s", s.right}};
}

void add_attention(const CalibrationFile& file, const Group& group, std::vector<CalibrationFit>& fits) {
    std::vector<AttentionPoint> points;
    for (const std::int64_t row : group.rows) {
        const CalibrationSample& sample = sample_of(file, row);
        points.push_back({static_cast<double>(*find(sample.shape, "flops")),
                          static_cast<double>(*find(sample.shape, "bytes")), median_seconds(sample)});
    }
    if (points.size() < 3) return;
    const AttentionFit fit = fit_attention(points);
    fits.push_back(fit_of(group, "attention", attention_errors(fit, points)));
    fits.back().parameters = {{"launch_s", fit.launch}, {"flop_s", fit.flop}, {"byte_s", fit.byte}};
}

}  // namespace

CalibrationFile with_fits(CalibrationFile calibration) {
    std::erase_if(calibration.fits, [](const CalibrationFit& fit) {
        return std::ranges::find(fitted_forms, fit.form) != fitted_forms.end();
    });
    for (const Group& group : groups_of(calibration.samples)) {
        switch (group.form) {
            case Form::curve: add_curves(calibration, group, calibration.fits); break;
            case Form::surface: add_surface(calibration, group, calibration.fits); break;
            case Form::attention: add_attention(calibration, group, calibration.fits); break;
        }
    }
    return calibration;
}

int fit_file_command(const std::string& path, const std::string& out) {
    const CalibrationFile fitted = with_fits(read_calibration_file(path));
    if (fitted.fits.empty())
        throw InputError({{{path, 1, 1}, "samples", "nothing to fit",
                           "two sizes of a kernel or collective, or five shapes of a matrix product", "measure more"}});
    fmt::print("{}", calibration_text(fitted));
    if (out.empty()) replace_text(path, to_yaml(fitted));
    else write_text(out, to_yaml(fitted));
    fmt::print("written: {}\n", out.empty() ? path : out);
    return 0;
}

}  // namespace rehearse

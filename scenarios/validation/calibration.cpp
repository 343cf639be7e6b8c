#include "scenarios/validation/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "models/compute/profile_keys.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/text_file.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

constexpr const char* bus_key = "nvlink.groups.8.bus";  // of the largest group

ProfileEntry find_entry(DeviceProfile& profile, const std::string& key) {
    for (ProfileEntry& entry : profile_entries(profile)) {
        if (entry.key == key) return entry;
    }
    throw_invariant_broken(__FILE__, __LINE__, "key", "no profile number " + key);
}

double current(DeviceProfile profile, const std::string& key) {
    return key == bus_key ? static_cast<double>(profile.local_links.back().bus.value)
                          : get_number(find_entry(profile, key));
}

void apply(DeviceProfile& profile, const std::vector<FitParameter>& parameters, const std::vector<double>& values) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].key == bus_key) {
            profile.local_links.back().bus = Bandwidth{static_cast<std::int64_t>(values[i])};
        } else {
            set_number(find_entry(profile, parameters[i].key), values[i]);
        }
    }
}

void note(DeviceProfile& profile, const std::string& key, const std::string& source) {
    const auto at = std::find_if(profile.notes.begin(), profile.notes.end(),
                                 [&](const ProfileNote& note) { return note.key == key; });
    if (at == profile.notes.end()) {
        profile.notes.push_back({key, "", Provenance::fitted, source});
    } else {
        at->provenance = Provenance::fitted;
        at->source = source;
    }
}

}  // namespace

std::vector<DeviceProfile> profiles_without(const Calibration& calibration, const DeviceProfile& fitted,
                                            const std::vector<std::vector<std::string>>& left_out) {
    std::vector<FitParameter> parameters = calibration.parameters;
    for (FitParameter& parameter : parameters) parameter.start = current(fitted, parameter.key);
    const auto with = [&](const auto& function) {
        return [&](const std::vector<double>& values) {
            DeviceProfile profile = fitted;
            apply(profile, calibration.parameters, values);
            return function(profile);
        };
    };
    const LinearisedFit fit(parameters, with(calibration.residuals), with(calibration.derivatives),
                            calibration.options);
    std::vector<DeviceProfile> profiles;
    for (const std::vector<std::string>& scenarios : left_out) {
        std::vector<std::size_t> rows;
        for (const std::string& scenario : scenarios) {
            for (const std::size_t row : calibration.residuals_of(scenario)) rows.push_back(row);
        }
        apply(profiles.emplace_back(fitted), calibration.parameters, fit.values_without(rows));
    }
    return profiles;
}

CalibrationResult run_calibration(const Calibration& calibration, DeviceProfile start) {
    const auto with = [&](const auto& function) {
        return [&, start](const std::vector<double>& values) {
            DeviceProfile profile = start;
            apply(profile, calibration.parameters, values);
            return function(profile);
        };
    };
    std::vector<FitParameter> parameters = calibration.parameters;
    for (FitParameter& parameter : parameters) parameter.start = current(start, parameter.key);
    CalibrationResult result;
    const auto reported = [&, full = with(calibration.residuals)](const std::vector<double>& values) {
        const std::vector<double> residuals = full(values);
        double squares = 0;
        for (const double r : residuals) squares += r * r;
        fmt::print(stderr, "rms residual {:.4f} at {:.5g}\n",
                   std::sqrt(squares / static_cast<double>(residuals.size())), fmt::join(values, " "));
        return residuals;
    };
    result.fit = fit_bounded(parameters, reported, with(calibration.derivatives), calibration.options);
    result.profile = start;
    apply(result.profile, calibration.parameters, result.fit.values);
    for (std::size_t i = 0; i < calibration.parameters.size(); ++i) {
        const std::string& key = calibration.parameters[i].key;
        note(result.profile, key == bus_key ? "nvlink.groups.8" : key,
             fmt::format("{}; standard error {:.2g}", calibration.data, result.fit.standard_errors[i]));
    }
    return result;
}

int calibrate_command(const CalibrateRequest& request) {
    const bool is_a100 = request.name == "a100-sxm-80g";
    const bool is_moe = request.name == "h800-megascale-moe" || request.name == "h800-megatron";
    if (!is_a100 && !is_moe && request.name != "megascale-ampere") {
        throw InputError({{{}, "calibrate fit", "no calibration named \"" + request.name + "\"",
                           "a100-sxm-80g, megascale-ampere, h800-megascale-moe or h800-megatron", ""}});
    }
    const std::string path =
        request.start.empty() ? data_path("models/compute/profiles/" + request.name + ".yaml").string() : request.start;
    DeviceProfile start = read_profile(path);
    Calibration calibration;
    if (is_a100) {
        start.local_links = fit_local_links(request.a100.all_reduce_file);
        for (const LocalLink& link : start.local_links) {
            note(start, fmt::format("nvlink.groups.{}", link.gpus), "vTrain (MICRO'24) NCCL all-reduce, train half");
        }
        std::vector<MeasuredStep> steps;
        for (const std::string& file : request.a100.step_files) {
            for (MeasuredStep& step : read_measured_steps(file)) steps.push_back(std::move(step));
        }
        calibration = a100_calibration(steps);
    } else if (is_moe) {
        calibration = megascale_moe_calibration(request.name);
    } else {
        calibration = megascale_calibration();
    }
    const CalibrationResult result = run_calibration(calibration, start);
    fmt::print("{} on {}: {} parameters, {} residuals, {} full evaluations, cost {:.5g}\n", request.name,
               calibration.data, calibration.parameters.size(), result.fit.residuals.size(), result.fit.evaluations,
               result.fit.cost);
    for (std::size_t i = 0; i < calibration.parameters.size(); ++i) {
        const FitParameter& p = calibration.parameters[i];
        fmt::print("  {:34} {:12.5g} +- {:9.3g}   [{:g}, {:g}]  {}\n", p.key, result.fit.values[i],
                   result.fit.standard_errors[i], p.low, p.high, p.meaning);
    }
    if (!request.out.empty()) {
        write_text(request.out, fmt::format("# Written by `rehearse calibrate fit {}`.\n{}", request.name,
                                            write_profile(result.profile)));
        fmt::print("written: {}\n", request.out);
    }
    return 0;
}

}  // namespace rehearse

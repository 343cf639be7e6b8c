#include "scenarios/calibrate/run_calibration.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>

#include "scenarios/calibrate/fit_calibration.hpp"
#include "scenarios/calibrate/policy_samples.hpp"
#include "scenarios/calibrate/show_calibration.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/text_file.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

constexpr int rounds_most = 3;

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now())); }

std::string cpu_entry(const std::string& wanted) {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const std::size_t colon = line.find(':');
        if (colon != line.npos && line.rfind(wanted, 0) == 0) return line.substr(std::min(colon + 2, line.size()));
    }
    return "";
}

std::string kernel_release() {
    utsname name{};
    return uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "";
}

// What one run of a shape gave, and how fast the machine was then.
struct Measured {
    std::vector<CalibrationSample> samples;
    Pace pace;
};

Measured measure(const CalibrateRunRequest& request, const SweepShape& shape) {
    PolicySpec policies;
    policies.stream.refills = shape.refills;
    const Workload workload = build_workload(sweep_training(shape, request.ranks));
    LiveExecutor executor(policies, {3, request.steps, 1}, on_threads(static_cast<std::uint32_t>(request.ranks)));
    executor.execute(workload);
    return {samples_of(executor.report()), executor.report().pace};
}

bool holds(const std::vector<CalibrationSample>& samples, const CalibrationSample& wanted) {
    return std::any_of(samples.begin(), samples.end(),
                       [&](const CalibrationSample& sample) { return label_of(sample) == label_of(wanted); });
}

// A sample that is noise is measured again, with all that its shape measures. `noisy` gets what stays noise.
std::vector<Measured> measure_until_calm(const CalibrateRunRequest& request, const SweepShape& shape,
                                         std::vector<std::string>& noisy) {
    std::vector<Measured> kept;
    std::vector<CalibrationSample> good, bad;
    for (int round = 0; round < rounds_most && (round == 0 || !bad.empty()); ++round) {
        Measured now = measure(request, shape);
        bad.clear();
        std::vector<CalibrationSample> fresh;
        for (CalibrationSample& sample : now.samples) {
            if (holds(good, sample)) continue;
            (relative_spread(sample) > request.spread_most ? bad : fresh).push_back(std::move(sample));
        }
        good.insert(good.end(), fresh.begin(), fresh.end());
        kept.push_back({std::move(fresh), now.pace});
    }
    for (const CalibrationSample& sample : bad)
        noisy.push_back(fmt::format("{} (spread {:.0f} %)", label_of(sample), 100 * relative_spread(sample)));
    return kept;
}

// All samples at the median pace of the runs, those of equal label joined.
std::vector<CalibrationSample> at_one_pace(std::vector<Measured> runs) {
    const auto middle = [&](double Pace::*which) {
        std::vector<double> values;
        for (const Measured& run : runs) values.push_back(run.pace.*which);
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
        return values[values.size() / 2];
    };
    const Pace pace{middle(&Pace::compute), middle(&Pace::memory)};
    std::vector<CalibrationSample> all = pace_samples(pace);
    for (Measured& run : runs) {
        change_pace(run.samples, run.pace, pace);
        for (CalibrationSample& sample : run.samples) {
            const auto same = std::find_if(all.begin(), all.end(), [&](const CalibrationSample& other) {
                return label_of(other) == label_of(sample);
            });
            if (same == all.end()) all.push_back(std::move(sample));
            else same->seconds.insert(same->seconds.end(), sample.seconds.begin(), sample.seconds.end());
        }
    }
    return all;
}

}  // namespace

std::string local_device_name() {
    const std::string name = cpu_entry("model name");
    return name.empty() ? "unknown processor" : name;
}

int run_calibration(const CalibrateRunRequest& request) {
    CalibrationFile file;
    file.device = {local_device_name(), DeviceKind::cpu, request.ranks, kernel_release(),
                   cpu_entry("cpu MHz") + " MHz"};
    file.software = {{"compiler", __VERSION__}};
    file.date = request.date.empty() ? today() : request.date;
    file.source.command = fmt::format("rehearse calibrate run --ranks {} --steps {}", request.ranks, request.steps);
    std::vector<std::string> noisy;
    std::vector<Measured> runs;
    const std::vector<SweepShape> shapes = sweep_shapes(request.size);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const SweepShape& shape = shapes[i];
        fmt::print(stderr, "{} of {}: {} tokens of {}, {} experts of {}, top-{}{}\n", i + 1, shapes.size(),
                   shape.tokens, shape.hidden, shape.experts, shape.inner, shape.top_k,
                   shape.refills > 0 ? ", streamed" : "");
        for (Measured& run : measure_until_calm(request, shape, noisy)) runs.push_back(std::move(run));
    }
    file.samples = at_one_pace(std::move(runs));
    for (CalibrationSample& sample : policy_samples(request.steps)) file.samples.push_back(std::move(sample));
    for (const std::string& label : noisy) fmt::print(stderr, "left out as noise: {}\n", label);
    file = with_fits(std::move(file));
    if (request.out.empty()) fmt::print("{}", calibration_text(file));
    else replace_text(request.out, to_yaml(file));
    return 0;
}

}  // namespace rehearse

#include "scenarios/calibrate/run_calibration.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "scenarios/calibrate/fit_calibration.hpp"
#include "scenarios/calibrate/local_device.hpp"
#include "scenarios/calibrate/policy_samples.hpp"
#include "scenarios/calibrate/show_calibration.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/text_file.hpp"
#include "sim/base/fault.hpp"
#include "sim/base/quantile.hpp"

namespace rehearse {

namespace {

constexpr int rounds_most = 3;

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now())); }

// What one run of a shape gave, and how fast the machine was then.
struct Measured {
    std::vector<CalibrationSample> samples;
    ChosenSteps chosen;
    double pace() const { return chosen.pace.compute; }
};

Measured measure(const CalibrateRunRequest& request, const SweepShape& shape, double calm_pace) {
    PolicySpec policies;
    policies.stream.refills = shape.refills;
    const Workload workload = build_workload(sweep_training(shape, request.ranks));
    LiveExecutor executor(policies, {3, request.steps, request.oversample, request.patience, calm_pace, 1},
                          on_threads(static_cast<std::uint32_t>(request.ranks)));
    executor.execute(workload);
    return {samples_of(executor.report()), executor.report().chosen};
}

// Every shape once; then those again that were measured while the machine was slower than at its best.
std::vector<Measured> measure_calmly(const CalibrateRunRequest& request) {
    const std::vector<SweepShape> shapes = sweep_shapes(request.size);
    std::vector<Measured> best(shapes.size());
    double fastest = 0;
    for (int round = 0; round < rounds_most; ++round) {
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (round > 0 && best[i].chosen.are_calm && best[i].pace() <= calm_pace_margin * fastest) continue;
            const SweepShape& shape = shapes[i];
            fmt::print(stderr, "round {}, {} of {}: {} tokens of {}, {} experts of {}, top-{}{}\n", round + 1, i + 1,
                       shapes.size(), shape.tokens, shape.hidden, shape.experts, shape.inner, shape.top_k,
                       shape.refills > 0 ? ", streamed" : "");
            Measured now = measure(request, shape, fastest);
            fastest = fastest > 0 ? std::min(fastest, now.pace()) : now.pace();
            if (round == 0 || now.pace() < best[i].pace()) best[i] = std::move(now);
        }
    }
    return best;
}

// Samples of equal label are joined; what is noise is left out and named.
std::vector<CalibrationSample> joined(std::vector<Measured> runs, double spread_most) {
    std::vector<double> compute, memory;
    std::vector<CalibrationSample> all;
    for (Measured& run : runs) {
        compute.push_back(run.chosen.pace.compute);
        memory.push_back(run.chosen.pace.memory);
        for (CalibrationSample& sample : run.samples) {
            if (relative_spread(sample) > spread_most) {
                fmt::print(stderr, "left out as noise: {} (spread {:.0f} %)\n", label_of(sample),
                           100 * relative_spread(sample));
                continue;
            }
            const auto same = std::find_if(all.begin(), all.end(), [&](const CalibrationSample& other) {
                return label_of(other) == label_of(sample);
            });
            if (same == all.end()) all.push_back(std::move(sample));
            else same->seconds.insert(same->seconds.end(), sample.seconds.begin(), sample.seconds.end());
        }
    }
    std::vector<CalibrationSample> samples = pace_samples({median(compute), median(memory)});
    samples.insert(samples.end(), all.begin(), all.end());
    return samples;
}

}  // namespace

int run_calibration(const CalibrateRunRequest& request) {
    CalibrationFile file;
    file.device = local_device(request.ranks);
    file.software = local_software();
    file.date = request.date.empty() ? today() : request.date;
    file.source.command = fmt::format("rehearse calibrate run --ranks {} --steps {}", request.ranks, request.steps);
    file.samples = joined(measure_calmly(request), request.spread_most);
    for (CalibrationSample& sample : policy_samples(request.steps)) file.samples.push_back(std::move(sample));
    file = with_fits(std::move(file));
    if (request.out.empty()) fmt::print("{}", calibration_text(file));
    else replace_text(request.out, to_yaml(file));
    return 0;
}

}  // namespace rehearse

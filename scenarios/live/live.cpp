#include "scenarios/live/live.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "scenarios/calibrate/local_device.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/live/check_live.hpp"
#include "scenarios/one_seed.hpp"
#include "scenarios/output_folder.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/text_file.hpp"
#include "scenarios/workload_of.hpp"
#include "sim/base/fault.hpp"

namespace rehearse {

namespace {

using Clock = std::chrono::steady_clock;

// What was measured on this machine goes into the profile: from the file that was named, or the profile's own.
ValidScenario with_calibration(const LiveRequest& request, Scenario scenario) {
    DeviceProfile& profile = scenario.models.profile;
    const std::string path = request.calibration.empty() ? profile.calibration_path : request.calibration;
    if (path.empty())
        throw InputError(
            {{find_place(scenario.written, "models.profile"), "models.profile",
              fmt::format("the profile {} names no calibration file", scenario.models.profile_name),
              "what was measured on this machine", "rehearse calibrate run --out FILE, then --calibration FILE"}});
    const CalibrationFile calibration = read_calibration_file(path);
    const auto other = device_mismatch(calibration, local_device_name());
    if (other && !is_on(request.force_device))
        throw InputError({{{path, 0, 0}, "device.name", other->wrong, other->expected, other->todo}});
    profile.measured = measured_costs(calibration);
    if (const auto missing = profile.measured.missing(); !missing.empty())
        fmt::print(stderr, "{}: not measured, predicted by the models of profile {} instead: {}; see rehearse "
                           "calibrate run\n",
                   path, scenario.models.profile_name, fmt::join(missing, ", "));
    return validate(std::move(scenario));
}

RunRanks ranks_of(const LiveRequest& request, const ValidScenario& scenario) {
    if (request.processes == nullptr) return on_threads(static_cast<std::uint32_t>(scenario.job().gpus));
    Communicator& world = request.processes->communicator();
    if (world.size() != scenario.job().gpus)
        throw InputError({{{},
                           "--mpi",
                           fmt::format("{} processes for {} ranks", world.size(), scenario.job().gpus),
                           "one process per rank",
                           fmt::format("mpirun -n {} rehearse live ...", scenario.job().gpus)}});
    return [&world](const std::function<void(Communicator&)>& body) { body(world); };
}

bool speaks(const LiveRequest& request) {
    return request.processes == nullptr || request.processes->communicator().rank() == 0;
}

std::string pace_text(const ValidScenario& scenario, const ChosenSteps& chosen) {
    const MeasuredPace& then = scenario.models().profile.measured.pace;
    std::string text;
    if (then.compute > 0 && then.memory > 0)
        text = fmt::format(
            "the machine takes {:.2f} times as long for arithmetic as when it was calibrated, {:.2f} times for "
            "memory\n",
            chosen.pace.compute / then.compute, chosen.pace.memory / then.memory);
    if (!chosen.are_calm) text += "the machine was not calm: measure again, or wait longer with --patience\n";
    return text;
}

}  // namespace

LiveComparison live(const LiveRequest& request) {
    const Clock::time_point began = Clock::now();
    const bool compares = is_on(request.compare);
    Scenario raw = read_scenario(request.path, request.overrides);
    const ValidScenario scenario = compares ? with_calibration(request, std::move(raw)) : validate(std::move(raw));
    // mpirun says where its processes run; threads are this program's affair.
    check_live(scenario, request.processes == nullptr ? local_cores() : scenario.job().gpus);
    std::optional<OutputFolder> output;
    if (request.out && speaks(request)) output.emplace(*request.out);

    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = workload_of(scenario);
    Placement placement = place_job(scenario, workload, cluster, scenario.seed());
    LiveExecutor executor(scenario.policies(),
                          {std::max(request.warmup, scenario.policies().warmup_steps), request.steps,
                           request.oversample, compares ? request.patience : 0,
                           scenario.models().profile.measured.pace.compute, scenario.seed()},
                          ranks_of(request, scenario));
    Timeline timeline = executor.execute(workload);
    timeline.traffic.bytes.resize(cluster.links().size());  // links are the simulation's: nothing was counted on them
    timeline.traffic.busy_seconds.resize(cluster.links().size());

    const LiveReport& report = executor.report();
    const OperatorTimes measured = measured_operators(report);
    OperatorTimes predicted;
    LiveComparison result{phases_of(measured, report.step_seconds[report.median_step()]), {}, report.spread()};
    if (compares) {
        const SeedRun simulated = run_seed(scenario, cluster, workload, scenario.seed());
        predicted = predicted_operators(workload, simulated.placement, cluster, scenario.models().profile,
                                        simulated.timeline);
        result.predicted = phases_of(predicted, simulated.timeline.end.seconds());
    }
    if (!speaks(request)) return result;
    const Table table = phase_table(result.measured, compares ? &result.predicted : nullptr);
    if (!is_on(request.quiet))
        fmt::print("{}: {} ranks, {} calmest of {} steps, spread {:.1f} %, values {:016x}\n{}", scenario.name(),
                   workload.layout.rank_count(), request.steps, report.chosen.run,
                   100 * result.spread, timeline.fingerprint, table.render(TableFormat::text));
    const Table by_operator = operator_table(measured, compares ? &predicted : nullptr);
    if (is_on(request.operators) && !is_on(request.quiet))
        fmt::print("\n{}", by_operator.render(TableFormat::text));
    if (compares && !is_on(request.quiet)) fmt::print("{}", pace_text(scenario, report.chosen));
    if (!output) return result;
    const StepRecord step{timeline.end, timeline.parts, timeline.last_arrivals, timeline.traffic};
    Metrics metrics = measure(step, workload, cluster, placement, scenario.models().profile.peak);
    Rehearsal rehearsal{scenario, cluster, workload, {}, std::chrono::duration<double>(Clock::now() - began).count()};
    rehearsal.runs.push_back({scenario.seed(), std::move(placement), std::move(timeline), std::move(metrics)});
    write_text(output->folder.file("phases.csv"), table.render(TableFormat::csv));
    write_text(output->folder.file("operators.csv"), by_operator.render(TableFormat::csv));
    write_results(output->folder, rehearsal);
    fmt::print("results: {}\n", output->folder.final_path().string());
    return result;
}

}  // namespace rehearse

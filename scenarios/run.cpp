#include "scenarios/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "runtime/parallel_for.hpp"
#include "scenarios/dump.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/one_seed.hpp"
#include "scenarios/output_folder.hpp"
#include "scenarios/packet_run.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/results.hpp"
#include "scenarios/workload_of.hpp"
#include "sim/base/checks.hpp"
#include "sim/base/fault.hpp"
#include "topology/export.hpp"

namespace rehearse {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

void print(const std::string& text) { fmt::print("{}", text); }

void print_warnings(const ValidScenario& scenario) {
    for (const std::string& warning : scenario.warnings()) fmt::print(stderr, "{}\n", warning);
}

// One rank of every stage, of the first replica: neighbours in the pipeline, so that a trace shows the schedule.
std::vector<RankId> sampled_ranks(const RankLayout& layout) {
    std::vector<RankId> ranks;
    for (std::uint32_t stage = 0; stage < layout.size(Dimension::pipeline); ++stage) {
        Coordinate at;
        at.pipeline = stage;
        ranks.push_back(layout.rank(at));
    }
    return ranks;
}

// A broken invariant names the command that shows it again.
template <class Step>
auto reproducible(const RunRequest& request, std::uint64_t seed, const Step& step) {
    try {
        return step();
    } catch (const InvariantBroken& broken) {
        std::string command = fmt::format("rehearse run {}", request.path);
        for (const std::string& text : request.overrides) command += fmt::format(" --set '{}'", text);
        throw InvariantBroken(fmt::format("{}\nreproduce with: {} --seed {}", broken.what(), command, seed));
    }
}

// The files show the first seed: the others keep neither spans nor traffic.
SeedRun run_seed(const Rehearsal& rehearsal, std::size_t index, TransferRecord* record) {
    const RankLayout& layout = rehearsal.workload.layout;
    SeedRun run = run_seed(rehearsal.scenario, rehearsal.cluster, rehearsal.workload, rehearsal.scenario.seed() + index,
                           index == 0 ? sampled_ranks(layout) : std::vector<RankId>{}, index == 0 ? record : nullptr);
    if (index > 0) run.timeline.traffic = {};
    return run;
}

// The screen comes first: it is not lost when the disk refuses the files.
void finish(const RunRequest& request, const Rehearsal& rehearsal, ResultFolder& folder) {
    if (!is_on(request.quiet)) print(summary(rehearsal));
    std::fflush(stdout);
    if (!request.out) folder.rename(default_folder(rehearsal));
    write_results(folder, rehearsal);
    fmt::print("results: {}\n", folder.final_path().string());
    if (!folder.kept().empty())
        fmt::print(stderr, "kept in it, not of these results: {}\n", fmt::join(folder.kept(), ", "));
}

}  // namespace

void run(const RunRequest& request) {
    const Clock::time_point began = Clock::now();
    const Stage stop = request.stop_after;

    const ValidScenario scenario = validate(read_scenario(request.path, request.overrides));
    check_seeds(scenario.seed(), request.seeds);
    print_warnings(scenario);
    if (stop == Stage::scenario) return print(scenario_yaml(scenario.plain()));
    std::optional<OutputFolder> output;
    if (stop == Stage::results) output.emplace(request.out.value_or(running_folder(scenario)));

    const Cluster cluster = build_cluster(scenario.cluster());
    if (stop == Stage::cluster) return print(fabric_table(cluster));
    const Workload workload = workload_of(scenario);
    if (stop == Stage::workload) return print(workload_dump(workload));

    if (stop == Stage::placement) {
        const Placement placement = place_job(scenario, workload, cluster, scenario.seed());
        return print(placement_table(placement, workload, cluster).render(TableFormat::csv));
    }

    const std::string effort = check_packet_effort(scenario, cluster, workload);
    if (!effort.empty()) fmt::print(stderr, "{}\n", effort);
    const bool checks = is_on(request.check_packets);
    TransferRecord record;
    Rehearsal rehearsal{scenario, cluster, workload, {}, 0};
    rehearsal.runs.resize(static_cast<std::size_t>(request.seeds));
    parallel_for(rehearsal.runs.size(), request.threads, [&](std::size_t i) {
        rehearsal.runs[i] = reproducible(request, scenario.seed() + i,
                                         [&] { return run_seed(rehearsal, i, checks ? &record : nullptr); });
    });
    if (checks) rehearsal.checks = check_run(scenario, cluster, record, scenario.seed());
    rehearsal.wall_s = seconds_since(began);
    if (stop == Stage::timeline) return print(timeline_dump(rehearsal.runs.front().timeline, workload));
    if (stop == Stage::metrics) return print(metrics_json(rehearsal));
    finish(request, rehearsal, output->folder);
}

}  // namespace rehearse

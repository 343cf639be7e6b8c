#include "scenarios/net/net_sweep.hpp"

#include <fmt/format.h>

#include <optional>

#include "scenarios/output_folder.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/results.hpp"
#include "scenarios/text_file.hpp"
#include "sim/base/rng.hpp"
#include "sim/trace/csv_writer.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::ordered_json;

struct SweepRun {
    std::vector<std::string> labels;  // one of each axis
    ValidNetScenario scenario;
    StudyFigures figures;
    std::vector<Spread> patterns;
    std::uint64_t fingerprint = 0;
    double wall_s = 0;
};

struct Column {
    const char* name;
    Json (*of)(const StudyFigures&);
};
constexpr Column columns[] = {
    {"flows", [](const StudyFigures& f) { return Json(f.flows); }},
    {"flows_failed", [](const StudyFigures& f) { return Json(f.failed); }},
    {"flows_blocked", [](const StudyFigures& f) { return Json(f.blocked); }},
    {"goodput_gbps", [](const StudyFigures& f) { return Json(f.goodput_gbps); }},
    {"time_end_us", [](const StudyFigures& f) { return Json(f.end_us); }},
    {"fct_us_min", [](const StudyFigures& f) { return Json(f.fct_us.min); }},
    {"fct_us_p50", [](const StudyFigures& f) { return Json(f.fct_us.p50); }},
    {"fct_us_p99", [](const StudyFigures& f) { return Json(f.fct_us.p99); }},
    {"fct_us_max", [](const StudyFigures& f) { return Json(f.fct_us.max); }},
    {"slowdown_p50", [](const StudyFigures& f) { return Json(f.slowdown.p50); }},
    {"slowdown_max", [](const StudyFigures& f) { return Json(f.slowdown.max); }},
    {"stalled_us_max", [](const StudyFigures& f) { return Json(f.stalled_us); }},
    {"timeouts", [](const StudyFigures& f) { return Json(f.timeouts); }},
    {"retransmissions", [](const StudyFigures& f) { return Json(f.retransmissions); }},
    {"losses", [](const StudyFigures& f) { return Json(f.sum.losses); }},
    {"drops", [](const StudyFigures& f) { return Json(f.sum.drops); }},
    {"watchdog_discards", [](const StudyFigures& f) { return Json(f.sum.discards); }},
    {"link_replays", [](const StudyFigures& f) { return Json(f.sum.replays); }},
    {"pauses", [](const StudyFigures& f) { return Json(f.sum.pauses); }},
    {"pause_us_total", [](const StudyFigures& f) { return Json(static_cast<double>(f.sum.paused) * 1e-6); }},
    {"ecn_marks", [](const StudyFigures& f) { return Json(f.sum.marks); }},
    {"queue_peak_bytes", [](const StudyFigures& f) { return Json(f.sum.queue_peak); }},
};

// Patterns of the largest mix; 0 without one. Each has a column.
std::size_t mixed(const std::vector<SweepRun>& all) {
    std::size_t most = 0;
    for (const SweepRun& run : all) most = std::max(most, run.patterns.size());
    return most > 1 ? most : 0;
}
std::string pattern_column(std::size_t pattern) { return fmt::format("fct_us_max_of_pattern_{}", pattern + 1); }
double slowest(const SweepRun& run, std::size_t pattern) {
    return pattern < run.patterns.size() ? run.patterns[pattern].max : 0;
}

std::string variant(std::size_t run) { return fmt::format("variant-{:02}", run + 1); }

ValidNetScenario scenario_of(const NetRequest& request, const NetScenario& asked, std::size_t run) {
    std::vector<std::string> overrides = request.overrides;
    std::string labels;
    for (const SweepPoint* point : points_of(asked.sweep, run)) {
        overrides.insert(overrides.end(), point->set.begin(), point->set.end());
        labels += (labels.empty() ? "" : ", ") + point->label;
    }
    try {
        NetScenario one = read_net_scenario(request.path, overrides);
        one.sweep.clear();
        one.name += " (" + labels + ")";
        return validate(std::move(one));
    } catch (const InputError& error) {
        FaultList faults;
        for (Fault fault : error.faults()) {
            fault.wrong += fmt::format(" in run {} of the sweep ({})", run + 1, labels);
            faults.add(std::move(fault));
        }
        faults.throw_if_any();
        throw;
    }
}

std::vector<SweepRun> runs(const NetRequest& request, const NetScenario& asked) {
    std::vector<SweepRun> all;
    for (std::size_t run = 0; run < runs_of(asked.sweep); ++run) {
        std::vector<std::string> labels;
        for (const SweepPoint* point : points_of(asked.sweep, run)) labels.push_back(point->label);
        all.push_back({std::move(labels), scenario_of(request, asked, run), {}, {}});
    }
    return all;
}

std::uint64_t fingerprint_of(const std::vector<SweepRun>& all) {
    std::uint64_t hash = hash_name("sweep");
    for (const SweepRun& run : all) {
        std::uint64_t state = hash ^ run.fingerprint;
        hash = splitmix64(state);
    }
    return hash;
}

Json rows_json(const NetScenario& asked, const std::vector<SweepRun>& all) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        Json row{{"variant", variant(i)}, {"labels", all[i].labels}};
        for (const Column& column : columns) row[column.name] = column.of(all[i].figures);
        for (std::size_t p = 0; p < mixed(all); ++p) row[pattern_column(p)] = slowest(all[i], p);
        row["fingerprint"] = fmt::format("{:016x}", all[i].fingerprint);
        rows.push_back(std::move(row));
    }
    Json axes = Json::array();
    for (const SweepAxis& axis : asked.sweep) {
        Json labels = Json::array();
        for (const SweepPoint& point : axis.points) labels.push_back(point.label);
        axes.push_back({{"name", axis.name}, {"points", std::move(labels)}});
    }
    return {{"axes", std::move(axes)}, {"runs", std::move(rows)}};
}

void write_csv(const std::string& path, const NetScenario& asked, const std::vector<SweepRun>& all) {
    std::vector<std::string> header{"variant"};
    for (const SweepAxis& axis : asked.sweep) header.push_back(axis.name);
    for (const Column& column : columns) header.emplace_back(column.name);
    for (std::size_t p = 0; p < mixed(all); ++p) header.push_back(pattern_column(p));
    header.emplace_back("fingerprint");
    CsvWriter csv(path, header);
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<std::string> cells{variant(i)};
        cells.insert(cells.end(), all[i].labels.begin(), all[i].labels.end());
        for (const Column& column : columns) cells.push_back(column.of(all[i].figures).dump());
        for (std::size_t p = 0; p < mixed(all); ++p) cells.push_back(fmt::format("{}", slowest(all[i], p)));
        cells.push_back(fmt::format("{:016x}", all[i].fingerprint));
        csv.row_of(cells);
    }
    csv.close();
}

std::string comparison(const NetScenario& asked, const std::vector<SweepRun>& all) {
    std::vector<std::size_t> widths;
    std::string text = asked.name + "\n\n";
    for (std::size_t a = 0; a < asked.sweep.size(); ++a) {
        std::size_t width = asked.sweep[a].name.size();
        for (const SweepPoint& point : asked.sweep[a].points) width = std::max(width, point.label.size());
        widths.push_back(width);
        text += fmt::format("{:<{}}  ", asked.sweep[a].name, width);
    }
    text += fmt::format("{:>10}  {:>13}  {:>13}", "Gbps", "FCT p50, us", "FCT max, us");
    for (std::size_t p = 0; p < mixed(all); ++p) text += fmt::format("  {:>13}", fmt::format("of pattern {}", p + 1));
    text += fmt::format("  {:>6}  {:>8}  {:>8}  {:>8}\n", "failed", "timeouts", "pauses", "losses");
    for (const SweepRun& run : all) {
        for (std::size_t a = 0; a < widths.size(); ++a) text += fmt::format("{:<{}}  ", run.labels[a], widths[a]);
        const StudyFigures& f = run.figures;
        text += fmt::format("{:>10.6g}  {:>13.3f}  {:>13.3f}", f.goodput_gbps, f.fct_us.p50, f.fct_us.max);
        for (std::size_t p = 0; p < mixed(all); ++p) text += fmt::format("  {:>13.3f}", slowest(run, p));
        text += fmt::format("  {:>6}  {:>8}  {:>8}  {:>8}{}\n", f.failed, f.timeouts, f.sum.pauses, f.sum.losses,
                            f.blocked > 0 ? fmt::format("  {} BLOCKED", f.blocked) : "");
    }
    return text + fmt::format("\nseed {}, fingerprint {:016x}\n", asked.seed, fingerprint_of(all));
}

void write_comparison(const ResultFolder& folder, const NetScenario& asked, const std::vector<SweepRun>& all) {
    double wall_s = 0;
    for (const SweepRun& run : all) wall_s += run.wall_s;
    Json json{{"schema_version", 1}};
    json["sweep"] = rows_json(asked, all);
    json["run"] = run_json(asked.name, asked.seed, fingerprint_of(all), wall_s);
    write_csv(folder.file("sweep.csv"), asked, all);
    write_text(folder.file("scenario.resolved.yaml"), scenario_yaml(asked));
    write_text(folder.file("summary.txt"), comparison(asked, all));
    write_text(folder.file("metrics.json"), json.dump(2) + "\n");
}

}  // namespace

bool net_sweep(const NetRequest& request, const NetScenario& asked) {
    validate(asked);  // what is wrong without any point is said once
    std::vector<SweepRun> all = runs(request, asked);
    const Crew crew = crew_of(request);
    std::optional<OutputFolder> output;
    if (is_first(crew)) output.emplace(request.out.value_or(default_folder(asked.name, "running")));
    ResultFolder* const folder = output ? &output->folder : nullptr;
    bool ended = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (output) print_warnings(all[i].scenario);
        const NetOutcome outcome = study(all[i].scenario, crew);
        if (output) write_files(*folder, variant(i) + "/", outcome);
        all[i].figures = outcome.figures;
        all[i].patterns = outcome.patterns;
        all[i].fingerprint = outcome.record.fingerprint;
        all[i].wall_s = outcome.wall_s;
        ended = ended && outcome.figures.blocked == 0;
    }
    if (!output) return ended;
    write_comparison(*folder, asked, all);
    if (!request.out) folder->rename(default_folder(asked.name, fmt::format("{:016x}", fingerprint_of(all))));
    folder->publish();
    if (!is_on(request.quiet)) fmt::print("{}", comparison(asked, all));
    fmt::print("results: {}\n", folder->final_path().string());
    return ended;
}

}  // namespace rehearse

// What `rehearse net` leaves behind, in a folder as results.hpp has it:
//
//     metrics.json              `net`: the figures; `network`: links and tiers; `run`
//     scenario.resolved.yaml    every default spelled out; running it again gives the same fingerprint
//     flows.csv                 flow, source, destination, bytes, start_us, fct_us, slowdown, retransmissions,
//                               timeouts, end (whole, failed, blocked)
//     links.csv                 counters of every link; at flow fidelity bytes and utilisation alone
//     series.csv                totals at each sample; packet fidelity only
//     summary.txt               the screen
//
// A sweep leaves sweep.csv (a line per run: its point of each axis, figures, fingerprint), the comparison as screen and
// in metrics.json (`sweep`), its scenario, and for each run a folder variant-NN with the files above.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "models/network/packet/fault_plan.hpp"
#include "models/network/study/figures.hpp"
#include "scenarios/net/net_scenario.hpp"
#include "sim/trace/result_folder.hpp"

namespace rehearse {

struct NetOutcome {
    ValidNetScenario scenario;
    Cluster cluster;
    std::vector<StudyFlow> flows;
    FaultPlan plan;
    StudyRecord record;
    StudyFigures figures;
    std::vector<Spread> patterns;  // FCT in us of the whole flows of each pattern of a mix
    double wall_s = 0;  // set-up and study
};

std::string metrics_json(const NetOutcome& outcome);
std::string summary(const NetOutcome& outcome);  // one screen
// The files of a run; `prefix` "" or "variant-01/".
void write_files(const ResultFolder& folder, const std::string& prefix, const NetOutcome& outcome);
// run_json's part of metrics.json that every kind of net result has; `fingerprint` of all its runs.
nlohmann::ordered_json run_json(const std::string& name, std::uint64_t seed, std::uint64_t fingerprint, double wall_s);

}  // namespace rehearse

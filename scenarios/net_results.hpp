// What `rehearse net` leaves behind, in a folder as results.hpp has it:
//
//     metrics.json              `net`: the figures; `network`: links and tiers; `run`
//     scenario.resolved.yaml    every default spelled out; running it again gives the same fingerprint
//     flows.csv                 flow, source, destination, bytes, start_us, fct_us, slowdown, retransmissions,
//                               timeouts, end (whole, failed, blocked)
//     links.csv                 counters of every link; at flow fidelity bytes and utilisation alone
//     series.csv                totals at each sample; packet fidelity only
//     summary.txt               the screen
#pragma once

#include <string>

#include "models/network/study/figures.hpp"
#include "scenarios/net_scenario.hpp"
#include "sim/trace/result_folder.hpp"

namespace rehearse {

struct NetOutcome {
    const ValidNetScenario& scenario;
    const Cluster& cluster;
    const std::vector<StudyFlow>& flows;
    const StudyRecord& record;
    StudyFigures figures;
    double wall_s = 0;  // from the start of the command to the end of the study
};

std::string default_folder(const NetOutcome& outcome);
std::string metrics_json(const NetOutcome& outcome);
std::string summary(const NetOutcome& outcome);  // one screen
void write_results(ResultFolder& folder, const NetOutcome& outcome);  // and publishes it

}  // namespace rehearse

// Results: what a run leaves behind, as files with fixed names and columns.
//
//     metrics.json              every figure (schema_version 1), each unit in its name
//     scenario.resolved.yaml    every default spelled out; run again with the same --seeds, the same fingerprint
//     placement.csv             rank, gpu, node, tensor, context, data, pipeline
//     timeline.json.gz          Chrome / Perfetto trace of the sampled ranks
//     links.csv                 link, from, to, tier, rate_bps, bytes, utilisation
//     summary.txt               the screen
// They are written into a folder beside the final one and moved into place when whole, so that a folder under the final
// name is always complete. With several seeds the files show the first; metrics.json has {median, min, max} per figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/metrics/metrics.hpp"
#include "models/network/packet_check.hpp"
#include "runtime/timeline.hpp"
#include "scenarios/scenario.hpp"
#include "sim/trace/result_folder.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

// One seed's outcome. Spans, placement and traffic are kept for the first seed only.
struct SeedRun {
    std::uint64_t seed = 1;
    Placement placement;
    Timeline timeline;
    Metrics metrics;
};

struct Rehearsal {
    const ValidScenario& scenario;
    const Cluster& cluster;
    const Workload& workload;
    std::vector<SeedRun> runs;  // at least one
    double wall_s = 0;          // from the start of the command to the end of the last simulation, set-up included
    std::vector<PhaseCheck> checks{};  // of the first seed, where they were asked for
};

// Of one seed its timeline's own. Of several the hash of theirs in order of the seeds, which run.fingerprints of
// metrics.json lists: N seeds from the same first one give it again, whatever the threads; other seeds do not.
std::uint64_t fingerprint(const Rehearsal& rehearsal);
std::string fingerprint_text(const Rehearsal& rehearsal);  // 16 hex digits

std::string metrics_json(const Rehearsal& rehearsal);
Table placement_table(const Placement& placement, const Workload& workload, const Cluster& cluster);
void write_links(const std::string& path, const Rehearsal& rehearsal);
void write_trace(const std::string& path, const Timeline& timeline, const Workload& workload);
std::string summary(const Rehearsal& rehearsal);  // one screen

// "results/<name>-<fingerprint>", the name in lower case with dashes.
std::string default_folder(const std::string& name, const std::string& fingerprint);
std::string default_folder(const Rehearsal& rehearsal);
// What it is called until the fingerprint is known.
std::string running_folder(const ValidScenario& scenario);
void write_results(ResultFolder& folder, const Rehearsal& rehearsal);  // and publishes it

}  // namespace rehearse

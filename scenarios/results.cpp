#include "scenarios/results.hpp"

#include <fmt/format.h>

#include <cctype>

#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/text_file.hpp"
#include "sim/trace/csv_writer.hpp"

namespace rehearse {

namespace {

std::string slug(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '_') out += static_cast<char>(std::tolower(byte));
        else if (c != ',' && !out.empty() && out.back() != '-') out += '-';
    }
    while (!out.empty() && out.back() == '-') out.pop_back();
    return out.empty() ? "scenario" : out.substr(0, 80);
}

// Runs again as it stands: what the command line adds to a scenario is said in its first line.
std::string resolved_yaml(const Rehearsal& rehearsal) {
    const std::size_t seeds = rehearsal.runs.size();
    const std::string again = seeds == 1 ? "" : fmt::format(" --seeds {}", seeds);
    const std::string head = "# Every default spelled out; rehearse run scenario.resolved.yaml";
    return fmt::format("{}{} gives fingerprint {} again.\n", head, again, fingerprint_text(rehearsal)) +
           scenario_yaml(rehearsal.scenario.plain());
}

}  // namespace

Table placement_table(const Placement& placement, const Workload& workload, const Cluster& cluster) {
    Table table({"rank", "gpu", "node", "tensor", "context", "data", "pipeline"});
    for (std::uint32_t rank = 0; rank < placement.rank_count(); ++rank) {
        const GpuId gpu = placement.gpu(RankId{rank});
        const Coordinate at = workload.layout.coordinate(RankId{rank});
        const auto text = [](std::uint32_t value) { return fmt::format("{}", value); };
        table.add({text(rank), text(gpu.value), text(cluster.node_of(gpu).value), text(at.tensor), text(at.context),
                   text(at.data), text(at.pipeline)});
    }
    return table;
}

void write_links(const std::string& path, const Rehearsal& rehearsal) {
    const Cluster& cluster = rehearsal.cluster;
    const SeedRun& run = rehearsal.runs.front();
    const LinkTraffic& traffic = run.timeline.traffic;
    CsvWriter csv(path, {"link", "from", "to", "tier", "rate_bps", "bytes", "utilisation"});
    for (std::uint32_t i = 0; i < traffic.bytes.size(); ++i) {
        const Link& link = cluster.link(LinkId{i});
        csv.row(i, cluster.vertex_name(link.from), cluster.vertex_name(link.to), name(link.tier), link.rate.value,
                traffic.bytes[i], traffic.busy_seconds[i] / run.metrics.step_time_s);
    }
    csv.close();
}

std::string default_folder(const std::string& name, const std::string& fingerprint) {
    return fmt::format("results/{}-{}", slug(name), fingerprint);
}

std::string default_folder(const Rehearsal& rehearsal) {
    return default_folder(rehearsal.scenario.name(), fingerprint_text(rehearsal));
}

std::string running_folder(const ValidScenario& scenario) {
    return fmt::format("results/{}-running", slug(scenario.name()));
}

void write_results(ResultFolder& folder, const Rehearsal& rehearsal) {
    const SeedRun& first = rehearsal.runs.front();
    write_text(folder.file("scenario.resolved.yaml"), resolved_yaml(rehearsal));
    write_text(folder.file("placement.csv"),
               placement_table(first.placement, rehearsal.workload, rehearsal.cluster).render(TableFormat::csv));
    write_links(folder.file("links.csv"), rehearsal);
    write_trace(folder.file("timeline.json.gz"), first.timeline, rehearsal.workload);
    write_text(folder.file("summary.txt"), summary(rehearsal));
    write_text(folder.file("metrics.json"), metrics_json(rehearsal));
    folder.publish();
}

}  // namespace rehearse

#include "scenarios/net/net_results.hpp"

#include <fmt/format.h>

#include "scenarios/installation.hpp"
#include "scenarios/json_parts.hpp"
#include "scenarios/net/net_faults.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/words.hpp"
#include "scenarios/results.hpp"
#include "scenarios/text_file.hpp"
#include "sim/trace/csv_writer.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::ordered_json;

double microseconds_of(SimDuration time) { return time.seconds() * 1e6; }
double pause_us(const PortCounters& port) { return microseconds_of(SimDuration{port.paused}); }
bool has_packets(const NetOutcome& outcome) {
    return outcome.scenario.network().fidelity == Fidelity::packet;
}

Json spread_json(const Spread& spread) {
    return {{"min", spread.min}, {"mean", spread.mean}, {"p50", spread.p50}, {"p99", spread.p99}, {"max", spread.max}};
}

Json net_json(const StudyFigures& figures) {
    return {{"flows", figures.flows},
            {"flows_failed", figures.failed},
            {"flows_blocked", figures.blocked},
            {"bytes", figures.bytes.value},
            {"fct_us", spread_json(figures.fct_us)},
            {"slowdown", spread_json(figures.slowdown)},
            {"goodput_gbps", figures.goodput_gbps},
            {"link_transmissions", figures.sum.data + figures.sum.control},
            {"data_link_transmissions", figures.sum.data},
            {"control_link_transmissions", figures.sum.control},
            {"retransmissions", figures.retransmissions},
            {"timeouts", figures.timeouts},
            {"stalled_us_max", figures.stalled_us},
            {"drops", figures.sum.drops},
            {"watchdog_discards", figures.sum.discards},
            {"watchdogs", figures.sum.watchdogs},
            {"frames_given_up", figures.sum.given_up},
            {"losses", figures.sum.losses},
            {"link_replays", figures.sum.replays},
            {"pauses", figures.sum.pauses},
            {"pause_us_total", pause_us(figures.sum)},
            {"ecn_marks", figures.sum.marks},
            {"queue_peak_bytes", figures.sum.queue_peak},
            {"time_end_us", figures.end_us}};
}

Json network_json(const NetOutcome& outcome) {
    const StudyFigures& figures = outcome.figures;
    Json json{{"pauses", figures.sum.pauses}, {"retransmissions", figures.retransmissions}};
    for (std::size_t tier = 0; tier < link_tier_count; ++tier) {
        const PortCounters& sum = figures.tiers[tier];
        const std::string key(name(static_cast<LinkTier>(tier)));
        json["bytes_per_tier"][key] = sum.bytes;
        json["link_transmissions_per_tier"][key] = sum.data + sum.control;
        json["pause_us_per_tier"][key] = pause_us(sum);
        json["queue_peak_bytes_per_tier"][key] = sum.queue_peak;
    }
    json["busiest_links"] = Json::array();
    for (const LinkLoad& load : figures.busiest)
        json["busiest_links"].push_back(
            link_json(load.link, static_cast<double>(outcome.record.links[load.link.value].bytes), load.utilisation,
                      outcome.cluster));
    return json;
}

Json one_run_json(const NetOutcome& outcome) {
    const ValidNetScenario& scenario = outcome.scenario;
    Json json = run_json(scenario.name(), scenario.seed(), outcome.record.fingerprint, outcome.wall_s);
    json["fidelity"] = word_for(fidelity_words, scenario.network().fidelity);
    json["job_outcome"] = outcome.figures.blocked > 0  ? "blocked"
                          : outcome.figures.failed > 0 ? "flows_failed"
                                                       : "completed";
    json["events"] = outcome.record.events;
    if (!outcome.record.buffer_cycle.empty()) json["buffer_cycle"] = outcome.record.buffer_cycle;
    if (outcome.scenario.net().fast_forward != FastForwardMode::off) {
        const ForwardRecord& forward = outcome.record.forward;
        json["fast_forward"] = {{"skips", forward.skips},
                                {"events", forward.events},
                                {"events_left_out", forward.events_left_out},
                                {"end_us", forward.end.seconds() * 1e6}};
    }
    return json;
}

void write_flows(const std::string& path, const NetOutcome& outcome) {
    constexpr std::string_view words[] = {"whole", "failed", "blocked"};
    CsvWriter csv(path, {"flow", "source", "destination", "bytes", "start_us", "fct_us", "slowdown", "retransmissions",
                         "timeouts", "stalled_us", "end"});
    for (std::size_t f = 0; f < outcome.flows.size(); ++f) {
        const FlowRecord& record = outcome.record.flows[f];
        const bool whole = record.end == FlowEnd::whole;
        const SimDuration time = record.finished - record.start;
        const bool compares = whole && record.idle.value > 0;
        csv.row(f, outcome.flows[f].source.value, outcome.flows[f].destination.value, record.bytes.value,
                record.start.seconds() * 1e6, whole ? fmt::format("{}", microseconds_of(time)) : "",
                compares ? fmt::format("{}", time.seconds() / record.idle.seconds()) : "", record.retransmissions,
                record.timeouts, microseconds_of(record.stalled), words[static_cast<std::size_t>(record.end)]);
    }
    csv.close();
}

void write_links(const std::string& path, const NetOutcome& outcome) {
    CsvWriter csv(path, {"link", "from", "to", "tier", "rate_bps", "bytes", "utilisation", "data", "control", "marks",
                         "drops", "discards", "losses", "replays", "given_up", "pauses", "pause_us",
                         "queue_peak_bytes"});
    const double seconds = outcome.record.end.seconds();
    for (std::uint32_t l = 0; l < outcome.record.links.size(); ++l) {
        const Link& link = outcome.cluster.link(LinkId{l});
        const PortCounters& port = outcome.record.links[l];
        const double able = link.rate.bytes_per_second() * seconds;
        csv.row(l, outcome.cluster.vertex_name(link.from), outcome.cluster.vertex_name(link.to), name(link.tier),
                link.rate.value, port.bytes, able > 0 ? static_cast<double>(port.bytes) / able : 0.0, port.data,
                port.control, port.marks, port.drops, port.discards, port.losses, port.replays, port.given_up,
                port.pauses, pause_us(port), port.queue_peak);
    }
    csv.close();
}

void write_series(const std::string& path, const NetOutcome& outcome) {
    CsvWriter csv(path, {"time_us", "flows_ended", "data", "control", "bytes", "marks", "drops", "losses", "replays",
                         "pauses", "pause_us", "queue_longest_bytes", "queue_peak_bytes"});
    for (const StudySample& sample : outcome.record.samples) {
        const PortCounters& sum = sample.sum;
        csv.row(sample.at.seconds() * 1e6, sample.flows_ended, sum.data, sum.control, sum.bytes, sum.marks, sum.drops,
                sum.losses, sum.replays, sum.pauses, pause_us(sum), sample.queue_longest, sum.queue_peak);
    }
    csv.close();
}

}  // namespace

Json run_json(const std::string& name, std::uint64_t seed, std::uint64_t fingerprint, double wall_s) {
    return {{"scenario", name},
            {"seed", seed},
            {"fingerprint", fmt::format("{:016x}", fingerprint)},
            {"wall_s", wall_s},
            {"peak_rss_bytes", peak_rss_bytes()},
            {"version", version()},
            {"commit", commit()}};
}

std::string metrics_json(const NetOutcome& outcome) {
    Json json{{"schema_version", 1}};
    json["net"] = net_json(outcome.figures);
    for (std::size_t i = 0; outcome.patterns.size() > 1 && i < outcome.patterns.size(); ++i)
        json["net"]["fct_us_of_pattern"].push_back(spread_json(outcome.patterns[i]));
    json["network"] = network_json(outcome);
    if (!outcome.scenario.packet().faults.empty()) json["faults"] = faults_json(outcome);
    json["run"] = one_run_json(outcome);
    return json.dump(2) + "\n";
}

void write_files(const ResultFolder& folder, const std::string& prefix, const NetOutcome& outcome) {
    const auto file = [&](const char* name) { return folder.file(prefix + name); };
    write_text(file("scenario.resolved.yaml"),
               fmt::format("# Every default spelled out; fingerprint {:016x}.\n", outcome.record.fingerprint) +
                   scenario_yaml(outcome.scenario.plain()));
    write_flows(file("flows.csv"), outcome);
    write_links(file("links.csv"), outcome);
    if (has_packets(outcome)) write_series(file("series.csv"), outcome);
    write_text(file("summary.txt"), summary(outcome));
    write_text(file("metrics.json"), metrics_json(outcome));
}

}  // namespace rehearse

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "scenarios/installation.hpp"
#include "scenarios/json_parts.hpp"
#include "scenarios/reading/slice_text.hpp"
#include "scenarios/reading/words.hpp"
#include "scenarios/results.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

Json memory_json(const MemoryReport& memory) {
    return {{"weights_bytes", memory.weights.value},     {"gradients_bytes", memory.gradients.value},
            {"optimizer_bytes", memory.optimizer.value}, {"activations_bytes", memory.activations.value},
            {"workspace_bytes", memory.workspace.value}, {"pipeline_stage", memory.stage}};
}

// What routing and policies left for the simulated step: means over the layers with experts.
Json experts_json(const ExpertStep& step) {
    const ExpertFigures& figures = step.figures;
    return {{"expert_max_over_mean", figures.expert_max_over_mean},
            {"rank_max_over_mean", figures.rank_max_over_mean},
            {"rank_deviation", figures.rank_deviation},
            {"dropped", figures.dropped},
            {"experts_over", figures.experts_over},
            {"steps_over", figures.steps_over},
            {"decisions", figures.decisions},
            {"migrated_bytes", figures.migrated_bytes},
            {"migration_s", step.migration_s},
            {"replica_s", step.replica_s},
            {"decision_s", step.decision_s},
            {"resident", step.resident_experts},
            {"page_misses", figures.page_misses},
            {"page_faults", figures.page_faults},
            {"page_waits", figures.page_waits},
            {"page_migrations", figures.page_migrations},
            {"page_drops", figures.page_drops},
            {"page_wait_s", step.page_wait_s}};
}

Json bottleneck_json(const BottleneckHints& hints) {
    Json json{{"part_largest", name(hints.part_largest)},
              {"stage_busiest", hints.stage_busiest},
              {"stage_busiest_s", hints.stage_busiest_s},
              {"stage_mean_s", hints.stage_mean_s}};
    if (hints.host_last.valid()) json["host_last"] = fmt::format("node{}", hints.host_last.value);
    json["host_last_share"] = hints.host_last_share;
    return json;
}

// The figures of one seed: numbers that another seed may change, and words that go with them.
Json figures(const SeedRun& run, const Cluster& cluster) {
    const Metrics& metrics = run.metrics;
    Json json{{"step_time_s", metrics.step_time_s},
              {"tokens_per_s", metrics.tokens_per_s},
              {"tokens_per_s_per_gpu", metrics.tokens_per_s_per_gpu},
              {"mfu", metrics.mfu},
              {"mfu_full_attention", metrics.mfu_full_attention},
              {"hfu", metrics.hfu},
              {"model_flops_per_token", metrics.model_flops_per_token}};
    for (std::size_t part = 0; part < part_count; ++part)
        json["breakdown_s"][std::string(name(static_cast<Part>(part)))] = metrics.breakdown_s[part];
    json["memory_bytes_per_gpu"] = metrics.memory.total().value;
    json["memory"] = memory_json(metrics.memory);
    for (std::size_t tier = 0; tier < link_tier_count; ++tier)
        json["network"]["bytes_per_tier"][std::string(name(static_cast<LinkTier>(tier)))] =
            metrics.bytes_per_tier[tier];
    json["network"]["busiest_links"] = Json::array();
    for (const LinkUse& use : metrics.busiest_links)
        json["network"]["busiest_links"].push_back(link_json(use.link, use.bytes, use.utilisation, cluster));
    // Packets alone are paused and lost: at ideal and flow fidelity links lose nothing and queue nothing.
    json["network"]["pauses"] = run.timeline.packets.pauses;
    json["network"]["retransmissions"] = run.timeline.packets.retransmissions;
    json["bottleneck"] = bottleneck_json(metrics.hints);
    return json;
}

// Several seeds as one: each number becomes {median, min, max}; words and lists are those of the first seed.
Json spread(const std::vector<Json>& seeds) {
    const Json& first = seeds.front();
    if (first.is_object()) {
        Json merged = Json::object();
        for (const auto& [key, value] : first.items()) {
            std::vector<Json> values;
            for (const Json& seed : seeds) values.push_back(seed.contains(key) ? seed[key] : value);
            merged[key] = spread(values);
        }
        return merged;
    }
    if (!first.is_number()) return first;
    std::vector<Json> sorted = seeds;
    std::sort(sorted.begin(), sorted.end(),
              [](const Json& a, const Json& b) { return a.get<double>() < b.get<double>(); });
    const std::size_t half = sorted.size() / 2;
    const bool odd = sorted.size() % 2 == 1;
    const Json median = odd ? sorted[half] : Json((sorted[half - 1].get<double>() + sorted[half].get<double>()) / 2);
    return {{"median", median}, {"min", sorted.front()}, {"max", sorted.back()}};
}

Json packets_json(const PacketShare& share, const ValidScenario& scenario) {
    return {{"slice", format(scenario.models().slice)},
            {"payload_bytes", share.payload},
            {"payload_bytes_all", share.payload_all},
            {"transfers", share.transfers},
            {"transfers_all", share.transfers_all},
            {"transmissions", share.transmissions},
            {"marks", share.marks},
            {"drops", share.drops},
            {"shared_with_flows", share.shared}};
}

Json checks_json(const std::vector<PhaseCheck>& checks) {
    Json list = Json::array();
    for (const PhaseCheck& check : checks)
        list.push_back({{"kind", name(check.kind)},
                        {"moment_s", check.moment.seconds()},
                        {"transfers", check.transfers},
                        {"transfers_all", check.transfers_all},
                        {"payload_bytes", check.payload},
                        {"scale", check.scale},
                        {"transmissions", check.transmissions},
                        {"flow_completion_mean_s", check.flow.completion_mean_s},
                        {"packet_completion_mean_s", check.packet.completion_mean_s},
                        {"flow_completion_s", check.flow.completion_s},
                        {"packet_completion_s", check.packet.completion_s}});
    return list;
}

Json run_json(const Rehearsal& rehearsal) {
    const ValidScenario& scenario = rehearsal.scenario;
    Json run{{"scenario", scenario.name()}, {"seed", rehearsal.runs.front().seed}};
    std::vector<Json> events;
    Json seeds = Json::array(), fingerprints = Json::array();
    for (const SeedRun& one : rehearsal.runs) {
        seeds.push_back(one.seed);
        fingerprints.push_back(hex(one.timeline.fingerprint));
        events.emplace_back(one.timeline.events);
    }
    const bool several = rehearsal.runs.size() > 1;
    if (several) run["seeds"] = seeds;
    if (several) run["fingerprints"] = fingerprints;
    run["fingerprint"] = fingerprint_text(rehearsal);
    run["fidelity"] = word_for(fidelity_words, scenario.models().network.fidelity);
    run["job_outcome"] = "completed";
    run["ranks"] = rehearsal.workload.layout.rank_count();
    run["events"] = several ? spread(events) : events.front();
    run["wall_s"] = rehearsal.wall_s;
    run["peak_rss_bytes"] = peak_rss_bytes();
    run["version"] = version();
    run["commit"] = commit();
    return run;
}

std::string_view word(Provenance provenance) {
    constexpr std::string_view words[] = {"published", "measured", "fitted", "assumed"};
    return words[static_cast<std::size_t>(provenance)];
}

Json provenance_json(const DeviceProfile& profile) {
    Json notes = Json::array();
    for (const ProfileNote& note : profile.notes)
        notes.push_back(
            {{"key", note.key}, {"value", note.value}, {"provenance", word(note.provenance)}, {"source", note.source}});
    return notes;
}

}  // namespace

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts KiB
}

Json link_json(LinkId id, double bytes, double utilisation, const Cluster& cluster) {
    const Link& link = cluster.link(id);
    return {{"link", id.value},
            {"from", cluster.vertex_name(link.from)},
            {"to", cluster.vertex_name(link.to)},
            {"tier", name(link.tier)},
            {"rate_bps", link.rate.value},
            {"bytes", bytes},
            {"utilisation", utilisation}};
}

std::uint64_t fingerprint(const Rehearsal& rehearsal) {
    if (rehearsal.runs.size() == 1) return rehearsal.runs.front().timeline.fingerprint;
    Fingerprint all;
    for (const SeedRun& run : rehearsal.runs) all.add(run.timeline.fingerprint);
    return all.value();
}

std::string fingerprint_text(const Rehearsal& rehearsal) { return hex(fingerprint(rehearsal)); }

std::string metrics_json(const Rehearsal& rehearsal) {
    std::vector<Json> seeds;
    for (const SeedRun& run : rehearsal.runs) seeds.push_back(figures(run, rehearsal.cluster));
    Json json{{"schema_version", 1}};
    json.update(seeds.size() == 1 ? seeds.front() : spread(seeds));
    const Workload& workload = rehearsal.workload;
    if (workload.training.model.kind == ModelKind::moe) json["experts"] = experts_json(workload.experts);
    if (rehearsal.scenario.models().network.fidelity == Fidelity::packet)
        json["packets"] = packets_json(rehearsal.runs.front().timeline.packets, rehearsal.scenario);
    if (!rehearsal.checks.empty()) json["packet_check"] = checks_json(rehearsal.checks);
    json["provenance"] = provenance_json(rehearsal.scenario.models().profile);
    json["run"] = run_json(rehearsal);
    return json.dump(2) + "\n";
}

}  // namespace rehearse

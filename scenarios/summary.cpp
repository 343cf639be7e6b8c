#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/packet_run.hpp"
#include "scenarios/reading/words.hpp"
#include "scenarios/results.hpp"
#include "scenarios/short_number.hpp"
#include "sim/base/quantile.hpp"

namespace rehearse {

namespace {

std::string bar(double share, int width) {
    const int filled = std::clamp(static_cast<int>(share * width + 0.5), 0, width);
    return std::string(static_cast<std::size_t>(filled), '#') +
           std::string(static_cast<std::size_t>(width - filled), '.');
}

std::string headline(const Metrics& metrics) {
    return fmt::format(
        "step time      {:.3f} s\n"
        "throughput     {}   ({:.1f} tokens/s per GPU)\n"
        "MFU            {:.1f} %   (full attention {:.1f} %)   HFU {:.1f} %\n",
        metrics.step_time_s, short_number(metrics.tokens_per_s, "tokens/s"), metrics.tokens_per_s_per_gpu,
        100 * metrics.mfu, 100 * metrics.mfu_full_attention, 100 * metrics.hfu);
}

// The figures above are those of the first seed; this line says how far the seeds lie apart.
std::string seeds_line(const Rehearsal& rehearsal) {
    if (rehearsal.runs.size() < 2) return "";
    std::vector<double> steps;
    for (const SeedRun& run : rehearsal.runs) steps.push_back(run.metrics.step_time_s);
    return fmt::format("{} seeds        median {:.3f} s, {:.3f} to {:.3f} s (this page shows seed {})\n", steps.size(),
                       median(steps), quantile(steps, 0), quantile(steps, 1), rehearsal.runs.front().seed);
}

std::string breakdown(const Metrics& metrics) {
    std::string text = "\nwhere the time goes (mean over ranks)\n";
    for (std::size_t part = 0; part < part_count; ++part) {
        const double share = metrics.breakdown_s[part] / metrics.step_time_s;
        text += fmt::format("  {:<15} {:>8.3f} s  {:>5.1f} %  {}\n", name(static_cast<Part>(part)),
                            metrics.breakdown_s[part], 100 * share, bar(share, 40));
    }
    return text;
}

// Bytes of all tiers, and of each tier the busiest link.
std::string network(const Metrics& metrics, const Cluster& cluster) {
    std::string text = "\nnetwork, bytes per tier:";
    for (std::size_t tier = 0; tier < link_tier_count; ++tier)
        text +=
            fmt::format("  {} {}", name(static_cast<LinkTier>(tier)), short_number(metrics.bytes_per_tier[tier], "B"));
    text += "\n";
    std::array<bool, link_tier_count> shown{};
    for (const LinkUse& use : metrics.busiest_links) {
        const Link& link = cluster.link(use.link);
        if (std::exchange(shown[static_cast<std::size_t>(link.tier)], true)) continue;
        text += fmt::format("  {:>5.1f} %  {:<11}  {} -> {}\n", 100 * use.utilisation, name(link.tier),
                            cluster.vertex_name(link.from), cluster.vertex_name(link.to));
    }
    return text;
}

std::string memory(const Rehearsal& rehearsal) {
    const MemoryReport& report = rehearsal.workload.memory;
    const DeviceProfile& profile = rehearsal.scenario.models().profile;
    const auto gb = [](Bytes bytes) { return static_cast<double>(bytes.value) / 1e9; };
    return fmt::format(
        "\nmemory of the fullest GPU (stage {}): {:.1f} of {:.1f} GB: weights {:.1f}, gradients {:.1f}, optimizer "
        "{:.1f}, activations {:.1f}, workspace {:.1f}\n",
        report.stage, gb(report.total()), gb(profile.memory_size - profile.memory_reserve), gb(report.weights),
        gb(report.gradients), gb(report.optimizer), gb(report.activations), gb(report.workspace));
}

// Of kind moe: how unevenly the experts work, and what the policies did about it.
std::string experts(const Workload& workload) {
    if (workload.training.model.kind != ModelKind::moe) return "";
    const ExpertStep& step = workload.experts;
    const ExpertFigures& figures = step.figures;
    std::string text = fmt::format(
        "\nexperts: busiest rank {:.2f} x mean (deviation {:.3f}), busiest expert {:.2f} x mean; dropped {:.2f} % of "
        "assignments, {:.2f} % of capacities over, {:.0f} % of steps\n",
        figures.rank_max_over_mean, figures.rank_deviation, figures.expert_max_over_mean, 100 * figures.dropped,
        100 * figures.experts_over, 100 * figures.steps_over);
    if (figures.decisions > 0)
        text += fmt::format("  balancer: {} decisions moved {} before the step, {:.1f} ms a step\n", figures.decisions,
                            short_number(static_cast<double>(figures.migrated_bytes), "B"), 1e3 * step.migration_s);
    if (step.resident_experts < 1)
        text += fmt::format("  pager: {:.0f} % of the weights resident; {:.2f} % of uses missed, {:.2f} % faulted: {} "
                            "waits ({:.1f} ms), {} migrations, {} drops\n",
                            100 * step.resident_experts, 100 * figures.page_misses, 100 * figures.page_faults,
                            figures.page_waits, 1e3 * step.page_wait_s, figures.page_migrations, figures.page_drops);
    return text;
}

std::string hints(const BottleneckHints& hints) {
    std::string text =
        fmt::format("look first at {}; stage {} computes most ({:.3f} s, mean {:.3f} s)", name(hints.part_largest),
                    hints.stage_busiest, hints.stage_busiest_s, hints.stage_mean_s);
    if (hints.host_last.valid())
        text += fmt::format("; node{} comes last most often ({:.1f} % of late arrivals)", hints.host_last.value,
                            100 * hints.host_last_share);
    return text + "\n";
}

// "fitted: gemm.efficiency, ... and 3 more".
std::string keys_of(const DeviceProfile& profile, Provenance provenance, std::string_view word) {
    std::string keys;
    std::size_t shown = 0, all = 0;
    for (const ProfileNote& note : profile.notes) {
        if (note.provenance != provenance) continue;
        ++all;
        if (keys.size() > 80) continue;
        keys += (keys.empty() ? "" : ", ") + note.key;
        ++shown;
    }
    if (all == 0) return "";
    return fmt::format("{}: {}{}\n", word, keys, all > shown ? fmt::format(" and {} more", all - shown) : "");
}

// Where the numbers of the profile come from: what a reader may trust, and how far.
std::string provenance(const DeviceProfile& profile) {
    return keys_of(profile, Provenance::published, "published") + keys_of(profile, Provenance::measured, "measured") +
           keys_of(profile, Provenance::fitted, "fitted") + keys_of(profile, Provenance::assumed, "assumed");
}

// "seed 1, fingerprint ..." or, of several, "seeds 1 to 3, fingerprint of all in order ...".
std::string fingerprint_line(const Rehearsal& rehearsal) {
    const std::uint64_t first = rehearsal.runs.front().seed, last = rehearsal.runs.back().seed;
    const std::string text = fingerprint_text(rehearsal);
    if (first == last) return fmt::format("seed {}, fingerprint {}\n", first, text);
    return fmt::format("seeds {} to {}, fingerprint of all in order {}\n", first, last, text);
}

}  // namespace

std::string summary(const Rehearsal& rehearsal) {
    const ValidScenario& scenario = rehearsal.scenario;
    const Metrics& metrics = rehearsal.runs.front().metrics;
    const DeviceProfile& profile = scenario.models().profile;
    const ParallelSpec& parallel = scenario.training().parallel;
    std::string text = fmt::format(
        "{}\n{} GPUs, tensor {} x pipeline {} (virtual {}) x data {} x context {}, batch {}, {} network, profile "
        "{}\n\n",
        scenario.name(), scenario.job().gpus, parallel.tensor, parallel.pipeline, parallel.virtual_stages,
        parallel.data, parallel.context, scenario.training().batch(),
        word_for(fidelity_words, scenario.models().network.fidelity), profile.name);
    text += headline(metrics) + seeds_line(rehearsal) + breakdown(metrics) + hints(metrics.hints);
    text += network(metrics, rehearsal.cluster) + packet_summary(rehearsal.runs.front(), scenario);
    text += check_summary(rehearsal.checks) + memory(rehearsal) + experts(rehearsal.workload);
    text += "\n" + provenance(profile) + fingerprint_line(rehearsal);
    return text;
}

}  // namespace rehearse

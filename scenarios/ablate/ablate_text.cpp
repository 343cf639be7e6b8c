// An ablation on the screen and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "scenarios/ablate/ablate.hpp"
#include "sim/trace/table.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::ordered_json;
using Breakdown = std::array<double, part_count>;

constexpr double shown_least = 5e-4;  // of the step: a part that is smaller in every subset has no column

std::vector<std::string> names_on(const Ablation& ablation, GroupSet on) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < ablation.groups.size(); ++i) {
        if (contains(on, i)) names.push_back(ablation.groups[i].name);
    }
    return names;
}

std::string label(const Ablation& ablation, GroupSet on) {
    if (on == 0) return "none";
    if (on + 1 == ablation.subsets.size()) return "all";
    return fmt::format("{}", fmt::join(names_on(ablation, on), " + "));
}

std::vector<Part> shown_parts(const Ablation& ablation) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < part_count; ++i) {
        if (std::ranges::any_of(ablation.subsets, [&](const SubsetRun& subset) {
                return subset.breakdown_s[i] >= shown_least * subset.step_time_s;
            }))
            parts.push_back(static_cast<Part>(i));
    }
    return parts;
}

std::vector<std::string> columns(std::vector<std::string> first, const std::vector<Part>& parts) {
    for (const Part part : parts) first.emplace_back(name(part));
    return first;
}

std::string subset_table(const Ablation& ablation) {
    const std::vector<Part> parts = shown_parts(ablation);
    Table table(columns({"on", "step s", "speed-up"}, parts));
    for (GroupSet on = 0; on < ablation.subsets.size(); ++on) {
        const SubsetRun& subset = ablation.subsets[on];
        std::vector<std::string> row{label(ablation, on), fmt::format("{:.4g}", subset.step_time_s),
                                     fmt::format("{:.3f}", ablation.speed_up(on))};
        for (const Part part : parts)
            row.push_back(fmt::format("{:.4g}", subset.breakdown_s[static_cast<std::size_t>(part)]));
        table.add(std::move(row));
    }
    return table.render(TableFormat::text);
}

// Seconds that the step and its parts change by as the groups are switched on one after the other.
std::string order_table(const Ablation& ablation) {
    const std::vector<Part> parts = shown_parts(ablation);
    Table table(columns({"switched on", "step s"}, parts));
    for (std::size_t i = 0; i < ablation.groups.size(); ++i) {
        const GroupSet before = (GroupSet{1} << i) - 1;
        const SubsetRun &from = ablation.subsets[before], &to = ablation.subsets[before | GroupSet{1} << i];
        std::vector<std::string> row{ablation.groups[i].name,
                                     fmt::format("{:+.3g}", to.step_time_s - from.step_time_s)};
        for (const Part part : parts) {
            const auto at = static_cast<std::size_t>(part);
            row.push_back(fmt::format("{:+.3g}", to.breakdown_s[at] - from.breakdown_s[at]));
        }
        table.add(std::move(row));
    }
    return table.render(TableFormat::text);
}

std::string split_table(const Ablation& ablation) {
    Table table({"group", "in this order", "Shapley", "least", "most over all orders"});
    for (std::size_t i = 0; i < ablation.groups.size(); ++i) {
        const GroupShare& share = ablation.split.groups[i];
        table.add({ablation.groups[i].name, fmt::format("{:.3f}", share.ordered), fmt::format("{:.3f}", share.shapley),
                   fmt::format("{:.3f}", share.least), fmt::format("{:.3f}", share.most)});
    }
    const std::string product = fmt::format("{:.3f}", ablation.split.speed_up);
    table.add({"product", product, product, "", ""});
    return table.render(TableFormat::text);
}

bool has_one_batch(const Ablation& ablation) {
    const auto tokens = [](const SubsetRun& subset) { return subset.tokens_per_s * subset.step_time_s; };
    const double full = tokens(ablation.subsets.back());
    return std::ranges::all_of(ablation.subsets, [&](const SubsetRun& subset) {
        return std::abs(tokens(subset) - full) < 0.5;  // they are whole numbers
    });
}

std::string hex(std::uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

Json subset_json(const Ablation& ablation, GroupSet on) {
    const SubsetRun& subset = ablation.subsets[on];
    Json json{{"on", names_on(ablation, on)},
              {"step_time_s", subset.step_time_s},
              {"speed_up", ablation.speed_up(on)},
              {"tokens_per_s", subset.tokens_per_s},
              {"mfu", subset.mfu}};
    for (std::size_t part = 0; part < part_count; ++part)
        json["breakdown_s"][std::string(name(static_cast<Part>(part)))] = subset.breakdown_s[part];
    json["seed_step_times_s"] = subset.seed_step_times_s;
    for (const std::uint64_t fingerprint : subset.fingerprints) json["fingerprints"].push_back(hex(fingerprint));
    return json;
}

}  // namespace

std::string ablation_text(const Ablation& ablation) {
    const std::size_t seeds = ablation.subsets.front().seed_step_times_s.size();
    std::string text = fmt::format("{}: {} subsets of {} groups, ", ablation.scenario, ablation.subsets.size(),
                                   ablation.groups.size());
    text += seeds == 1 ? fmt::format("seed {}\n\n", ablation.seed)
                       : fmt::format("median of {} seeds from {}\n\n", seeds, ablation.seed);
    text += subset_table(ablation) + "\n" + order_table(ablation) + "\n" + split_table(ablation);
    if (!has_one_batch(ablation))
        text += "\nThe subsets train different batches: speed-ups are in tokens per second.\n";
    std::vector<std::string> factors;
    for (const GroupShare& share : ablation.split.groups) factors.push_back(fmt::format("{:.3f}", share.ordered));
    return text + fmt::format("\n{:.3f} = {}\n", ablation.split.speed_up, fmt::join(factors, " x "));
}

std::string ablation_json(const Ablation& ablation) {
    Json json{{"schema_version", 1}, {"scenario", ablation.scenario}, {"seed", ablation.seed}};
    json["speed_up"] = ablation.split.speed_up;
    for (std::size_t i = 0; i < ablation.groups.size(); ++i) {
        const GroupShare& share = ablation.split.groups[i];
        json["groups"].push_back({{"name", ablation.groups[i].name},
                                  {"off", ablation.groups[i].off},
                                  {"factor_ordered", share.ordered},
                                  {"factor_shapley", share.shapley},
                                  {"factor_least", share.least},
                                  {"factor_most", share.most}});
    }
    for (GroupSet on = 0; on < ablation.subsets.size(); ++on) json["subsets"].push_back(subset_json(ablation, on));
    return json.dump(2) + "\n";
}

}  // namespace rehearse

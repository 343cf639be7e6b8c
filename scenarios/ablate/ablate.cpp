#include "scenarios/ablate/ablate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "runtime/parallel_for.hpp"
#include "scenarios/one_seed.hpp"
#include "scenarios/packet_run.hpp"
#include "scenarios/reading/findings.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/text_file.hpp"
#include "scenarios/workload_of.hpp"
#include "sim/base/nearest.hpp"
#include "sim/config/load_config.hpp"

namespace rehearse {

namespace {

std::vector<std::string> names_of(const std::vector<AblationGroup>& groups) {
    std::vector<std::string> names;
    for (const AblationGroup& group : groups) names.push_back(group.name);
    return names;
}

[[noreturn]] void refuse(Place place, std::string path, std::string wrong, std::string expected, std::string todo) {
    throw InputError({{std::move(place), std::move(path), std::move(wrong), std::move(expected), std::move(todo)}});
}

std::vector<AblationGroup> in_order(const std::vector<std::string>& order, std::vector<AblationGroup> groups) {
    if (order.empty()) return groups;
    const std::vector<std::string> names = names_of(groups);
    std::vector<AblationGroup> chosen;
    for (const std::string& name : order) {
        const auto at = std::ranges::find(names, name);
        if (at == names.end()) {
            const std::string near = nearest_word(name, names);
            refuse({"--order", 0, 0}, "", fmt::format("{} is no group of the scenario", in_quotes(name)),
                   fmt::format("{}", fmt::join(names, ", ")),
                   near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
        }
        if (std::ranges::count(order, name) > 1)
            refuse({"--order", 0, 0}, "", fmt::format("{} is named twice", in_quotes(name)), "each group once", "");
        chosen.push_back(groups[static_cast<std::size_t>(at - names.begin())]);
    }
    return chosen;
}

std::vector<AblationGroup> asked_groups(const AblationRequest& request, const ValidScenario& full) {
    std::vector<AblationGroup> groups = in_order(request.order, ablation_groups(full));
    const Place place = find_place(full.plain().written, "ablation");
    if (groups.empty())
        refuse(place, "ablation", "no technique is on, and no group is named", "at least one",
               "name groups: ablation: {NAME: [KEY=VALUE, ...]}");
    if (groups.size() > ablation_groups_most)
        refuse(place, "ablation", fmt::format("{} groups have 2^{} subsets", groups.size(), groups.size()),
               fmt::format("at most {} groups", ablation_groups_most), "choose some with --order");
    return groups;
}

// The scenario with more keys set; its groups are left out, since they have been checked and choose nothing any more.
Scenario with(const AblationRequest& request, const std::vector<std::string>& set) {
    std::vector<std::string> overrides = request.overrides;
    overrides.insert(overrides.end(), set.begin(), set.end());
    overrides.emplace_back("ablation={}");
    return read_scenario(request.path, overrides);
}

ValidScenario subset_scenario(const AblationRequest& request, const std::vector<AblationGroup>& groups, GroupSet on) {
    std::vector<std::string> set, off;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (contains(on, i)) continue;
        set.insert(set.end(), groups[i].off.begin(), groups[i].off.end());
        off.push_back(groups[i].name);
    }
    try {
        return validate(with(request, set));
    } catch (const InputError& error) {
        std::vector<Fault> faults = error.faults();
        for (Fault& fault : faults) fault.wrong = fmt::format("with {} off: {}", fmt::join(off, ", "), fault.wrong);
        throw InputError(std::move(faults));
    }
}

// A key whose off value is the one that it has anyway.
std::vector<std::string> idle_keys(const AblationRequest& request, const std::vector<AblationGroup>& groups,
                                   const ValidScenario& full) {
    const std::string on = scenario_yaml(with(request, {}));
    std::vector<std::string> warnings;
    for (const AblationGroup& group : groups) {
        for (std::size_t i = 0; i < group.off.size(); ++i) {
            if (scenario_yaml(with(request, {group.off[i]})) != on) continue;
            const Place place = find_place(full.plain().written, fmt::format("ablation.{}[{}]", group.name, i));
            warnings.push_back("warning: " + to_string({place, "ablation." + group.name,
                                                        group.off[i] + " is what the full system has", "",
                                                        "the group does not switch it"}));
        }
    }
    return warnings;
}

SubsetRun run_subset(const ValidScenario& scenario, std::int64_t seeds) {
    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = workload_of(scenario);
    check_packet_effort(scenario, cluster, workload);
    SubsetRun subset;
    std::vector<Metrics> metrics;
    for (std::int64_t i = 0; i < seeds; ++i) {
        SeedRun run = run_seed(scenario, cluster, workload, scenario.seed() + static_cast<std::uint64_t>(i));
        subset.seed_step_times_s.push_back(run.metrics.step_time_s);
        subset.fingerprints.push_back(run.timeline.fingerprint);
        metrics.push_back(std::move(run.metrics));
    }
    std::ranges::stable_sort(metrics, {}, &Metrics::step_time_s);
    const Metrics& middle = metrics[(metrics.size() - 1) / 2];
    subset.step_time_s = middle.step_time_s;
    subset.tokens_per_s = middle.tokens_per_s;
    subset.mfu = middle.mfu;
    subset.breakdown_s = middle.breakdown_s;
    return subset;
}

// T(S) of split.hpp: with equal batches the step times themselves.
std::vector<double> comparable_times(const std::vector<SubsetRun>& subsets) {
    std::vector<double> times;
    const double tokens = subsets.back().tokens_per_s * subsets.back().step_time_s;
    for (const SubsetRun& subset : subsets) times.push_back(tokens / subset.tokens_per_s);
    return times;
}

}  // namespace

std::vector<AblationGroup> ablation_groups(const ValidScenario& scenario) {
    if (!scenario.plain().ablation.empty()) return scenario.plain().ablation;
    Scenario plain = scenario.plain();
    const ConfigNode on = parse_config(scenario_yaml(plain), "resolved.yaml");
    plain.training.technique = {};  // every technique off
    const ConfigNode off = parse_config(scenario_yaml(plain), "resolved.yaml");
    std::vector<AblationGroup> groups;
    for (const ConfigEntry& technique : off.find("training")->find("technique")->entries) {
        const ConfigNode* const now = on.find("training")->find("technique")->find(technique.key);
        if (now == nullptr || now->text == technique.value.text) continue;
        groups.push_back(
            {technique.key, {fmt::format("training.technique.{}={}", technique.key, technique.value.text)}});
    }
    return groups;
}

Ablation measure_ablation(const AblationRequest& request) {
    const ValidScenario full = validate(read_scenario(request.path, request.overrides));
    check_seeds(full.seed(), request.seeds);
    Ablation ablation{full.name(), full.seed(), asked_groups(request, full), {}, full.warnings(), {}};
    std::vector<ValidScenario> scenarios;
    for (GroupSet on = 0; on < GroupSet{1} << ablation.groups.size(); ++on)
        scenarios.push_back(subset_scenario(request, ablation.groups, on));
    for (std::string& warning : idle_keys(request, ablation.groups, full)) ablation.warnings.push_back(warning);
    ablation.subsets.resize(scenarios.size());
    parallel_for(scenarios.size(), request.threads,
                 [&](std::size_t i) { ablation.subsets[i] = run_subset(scenarios[i], request.seeds); });
    ablation.split = split_speed_up(comparable_times(ablation.subsets), ablation.groups.size());
    return ablation;
}

void ablation_command(const AblationRequest& request) {
    const Ablation ablation = measure_ablation(request);
    for (const std::string& warning : ablation.warnings) fmt::print(stderr, "{}\n", warning);
    fmt::print("{}", ablation_text(ablation));
    std::fflush(stdout);
    if (!request.json_path.empty()) write_text(request.json_path, ablation_json(ablation));
}

}  // namespace rehearse

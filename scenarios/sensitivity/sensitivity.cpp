#include "scenarios/sensitivity/sensitivity.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "models/compute/profile_keys.hpp"
#include "runtime/parallel_for.hpp"
#include "scenarios/one_seed.hpp"
#include "scenarios/packet_run.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "scenarios/text_file.hpp"
#include "scenarios/workload_of.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::ordered_json;

std::string_view word(Expected expected) {
    constexpr std::string_view words[] = {"slower", "faster", "either"};
    return words[static_cast<std::size_t>(expected)];
}

Showing show(const ValidScenario& scenario) {
    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = workload_of(scenario);
    check_packet_effort(scenario, cluster, workload);
    SeedRun run = run_seed(scenario, cluster, workload, scenario.seed());
    Showing showing{std::move(run.metrics), run.timeline.fingerprint, {}};
    const std::vector<double>& busy = run.timeline.traffic.busy_seconds;
    for (std::uint32_t i = 0; i < busy.size(); ++i) {
        double& busiest = showing.busiest[static_cast<std::size_t>(cluster.link(LinkId{i}).tier)];
        busiest = std::max(busiest, busy[i] / showing.metrics.step_time_s);
    }
    return showing;
}

void apply_profile(const Lever& lever, DeviceProfile& profile) {
    for (const ProfileEntry& entry : profile_entries(profile)) {
        if ("profile." + entry.key == lever.key) set_number(entry, get_number(entry) / 2);
    }
    if (lever.key != "profile.nvlink.groups") return;
    for (LocalLink& link : profile.local_links) link.bus.value /= 2;
}

ValidScenario changed(const SensitivityRequest& request, const Change& change) {
    std::vector<std::string> overrides = request.overrides;
    overrides.insert(overrides.end(), change.overrides.begin(), change.overrides.end());
    Scenario scenario = read_scenario(request.path, overrides);
    apply_profile(change.lever, scenario.models.profile);
    return validate(std::move(scenario));
}

std::int64_t degree_of(const ParallelSpec& parallel, const std::string& group) {
    if (group == "tensor") return parallel.tensor;
    return group == "pipeline" ? parallel.pipeline : parallel.data;
}

// The fault without its place: the key was changed by the program, not read at a line.
std::string does_not_run(const InputError& error) {
    Fault fault = error.faults().front();
    fault.place = {};
    return "does not run: " + to_string(fault);
}

Effect effect_of(const SensitivityRequest& request, const ValidScenario& scenario, const Change& change,
                 const Showing& before) {
    Effect effect{change, {}, 0, ""};
    try {
        effect.after = show(changed(request, change));
    } catch (const InputError& error) {
        effect.reason = does_not_run(error);
        return effect;
    }
    effect.difference = effect.after->metrics.step_time_s / before.metrics.step_time_s - 1;
    effect.reason =
        reason_of(change, degree_of(scenario.training().parallel, change.lever.group), before, *effect.after);
    return effect;
}

// Every key that the user asked for must be one: a mistyped key is a fault, not a change that does not run.
void check_asked(const SensitivityRequest& request, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
        std::vector<std::string> overrides = request.overrides;
        overrides.insert(overrides.end(), change.overrides.begin(), change.overrides.end());
        read_scenario(request.path, overrides);
    }
}

constexpr std::size_t line_width = 120, indent = 4, cell_width = 20;

// A value that is a whole map or a path says enough with its beginning.
std::string shortened(const std::string& text) {
    return text.size() <= cell_width ? text : text.substr(0, cell_width - 3) + "...";
}

// The reason of a change stands below its row: it is a sentence and would make the table wider than a screen.
std::string wrapped(const std::string& reason) {
    std::string text, line;
    std::istringstream words(reason);
    for (std::string next; words >> next;) {
        if (!line.empty() && indent + line.size() + 1 + next.size() > line_width) {
            text += std::string(indent, ' ') + std::exchange(line, "") + "\n";
        }
        line += (line.empty() ? "" : " ") + next;
    }
    return text + std::string(indent, ' ') + line + "\n";
}

Json showing_json(const Showing& showing) {
    Json json{{"step_time_s", showing.metrics.step_time_s}, {"mfu", showing.metrics.mfu}};
    for (std::size_t part = 0; part < part_count; ++part)
        json["breakdown_s"][std::string(name(static_cast<Part>(part)))] = showing.metrics.breakdown_s[part];
    return json;
}

}  // namespace

Sensitivity measure_sensitivity(const SensitivityRequest& request) {
    const ValidScenario scenario = validate(read_scenario(request.path, request.overrides));
    std::vector<Change> changes;
    for (const std::string& text : request.changes) changes.push_back(change_of(scenario, text));
    check_asked(request, changes);
    if (changes.empty()) changes = standard_changes(scenario);
    Sensitivity sensitivity{scenario.name(), scenario.seed(), show(scenario), {}};
    sensitivity.effects.resize(changes.size());
    parallel_for(changes.size(), request.threads, [&](std::size_t i) {
        sensitivity.effects[i] = effect_of(request, scenario, changes[i], sensitivity.before);
    });
    return sensitivity;
}

std::string sensitivity_text(const Sensitivity& sensitivity) {
    Table table({"key", "from", "to", "step s", "difference", "expected"});
    for (const Effect& effect : sensitivity.effects) {
        const Change& change = effect.change;
        table.add({change.lever.key, shortened(change.from), shortened(change.to),
                   effect.after ? fmt::format("{:.4g}", effect.after->metrics.step_time_s) : "-",
                   effect.after ? fmt::format("{:+.2f} %", 100 * effect.difference) : "-",
                   std::string(word(change.expected))});
    }
    std::string text = fmt::format("{}: step {:.4g} s as written, seed {}\n", sensitivity.scenario,
                                   sensitivity.before.metrics.step_time_s, sensitivity.seed);
    std::istringstream lines(table.render(TableFormat::text));
    std::string line;
    for (int heading = 0; heading < 2 && std::getline(lines, line); ++heading) text += line + "\n";
    for (const Effect& effect : sensitivity.effects) {
        std::getline(lines, line);
        text += line + "\n" + wrapped(effect.reason);
    }
    return text;
}

std::string sensitivity_json(const Sensitivity& sensitivity) {
    Json changes = Json::array();
    for (const Effect& effect : sensitivity.effects) {
        Json json{{"key", effect.change.lever.key},
                  {"from", effect.change.from},
                  {"to", effect.change.to},
                  {"expected", word(effect.change.expected)},
                  {"runs", effect.after.has_value()},
                  {"reason", effect.reason}};
        if (effect.after) {
            json["difference"] = effect.difference;
            json.update(showing_json(*effect.after));
        }
        changes.push_back(std::move(json));
    }
    Json json{{"schema_version", 1}, {"scenario", sensitivity.scenario}, {"seed", sensitivity.seed}};
    json.update(showing_json(sensitivity.before));
    json["changes"] = std::move(changes);
    return json.dump(2) + "\n";
}

void sensitivity_command(const SensitivityRequest& request) {
    const Sensitivity sensitivity = measure_sensitivity(request);
    fmt::print("{}", sensitivity_text(sensitivity));
    if (!request.json_path.empty()) write_text(request.json_path, sensitivity_json(sensitivity));
}

}  // namespace rehearse

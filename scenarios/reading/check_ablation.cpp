#include "scenarios/reading/check_ablation.hpp"

#include <fmt/format.h>

#include "sim/config/overrides.hpp"

namespace rehearse {

namespace {

// One "key=value" of a group and where it stands.
struct Change {
    std::string key, text, path;
    Place place;
};

std::vector<Change> changes_of(const Scenario& scenario) {
    std::vector<Change> changes;
    for (const AblationGroup& group : scenario.ablation) {
        const std::string path = "ablation." + group.name;
        for (std::size_t i = 0; i < group.off.size(); ++i) {
            const std::string& text = group.off[i];
            changes.push_back({text.substr(0, text.find('=')), text, path,
                               find_place(scenario.written, fmt::format("{}[{}]", path, i))});
        }
    }
    return changes;
}

bool is_of_the_run(const std::string& key) {
    return key == "name" || key == "seed" || key == "ablation" || key.starts_with("ablation.");
}

// "a.b" lies in "a", and in itself.
bool lies_in(const std::string& key, const std::string& section) {
    return key == section || key.starts_with(section + ".");
}

bool contradict(const Change& a, const Change& b) {
    return a.text != b.text && (lies_in(a.key, b.key) || lies_in(b.key, a.key));
}

// The faults that this change alone brings: those at its override.
void read_with(const Change& change, const Scenario& scenario, FaultList& faults, const ReadTree& read) {
    Scenario changed = scenario;
    std::erase_if(changed.written.entries, [](const ConfigEntry& entry) { return entry.key == "ablation"; });
    FaultList found;
    apply_overrides(changed.written, {change.text}, found);
    if (found.empty()) read(std::move(changed), found);
    for (const Fault& fault : found.faults()) {
        if (!fault.place.file.starts_with("--set")) continue;
        const std::string key = fault.path.empty() ? change.key : fault.path;
        faults.add({change.place, change.path, fmt::format("{}: {}", key, fault.wrong), fault.expected, fault.todo});
    }
}

}  // namespace

void check_ablation(const Scenario& scenario, FaultList& faults, const ReadTree& read) {
    const std::vector<Change> changes = changes_of(scenario);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (is_of_the_run(changes[i].key)) {
            faults.add({changes[i].place, changes[i].path, fmt::format("{} is the same in every run", changes[i].key),
                        "a key that a technique has", ""});
            continue;
        }
        read_with(changes[i], scenario, faults, read);
        for (std::size_t j = 0; j < i; ++j) {
            if (contradict(changes[i], changes[j]))
                faults.add({changes[i].place, changes[i].path,
                            fmt::format("{} contradicts {} in {}", changes[i].text, changes[j].text, changes[j].path),
                            "one off value for each key", "give both the same value, or join the groups"});
        }
    }
}

}  // namespace rehearse

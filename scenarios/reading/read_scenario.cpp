#include "scenarios/reading/read_scenario.hpp"

#include <filesystem>

#include "scenarios/net/net_keys.hpp"
#include "scenarios/reading/check_ablation.hpp"
#include "scenarios/reading/read_keys.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/utf8.hpp"

namespace rehearse {

namespace {

bool is_net(const ConfigNode& tree) { return tree.find("net") != nullptr && tree.find("training") == nullptr; }

// One sentence instead of one for each key that a training job would have.
void refuse_net(const Scenario& scenario) {
    if (!is_net(scenario.written)) return;
    FaultList faults;
    faults.add({find_place(scenario.written, "net"), "net", "the scenario is traffic on the fabric, no training job",
                "job and training", "use rehearse net"});
    faults.throw_if_any();
}
void refuse_net(const NetScenario&) {}

void visit(ReadKeys& keys, Scenario& scenario) { scenario_keys(keys, scenario); }
void visit(ReadKeys& keys, NetScenario& scenario) { net_scenario_keys(keys, scenario); }

// The groups of `ablation` are keys of this scenario: each is read with them.
void check_groups(const Scenario& scenario, const std::string& folder, FaultList& faults) {
    check_ablation(scenario, faults, [&](Scenario changed, FaultList& found) {
        Reader root(changed.written, "", found);
        ReadKeys keys(root, folder, found);
        visit(keys, changed);
        root.finish();
    });
}
void check_groups(const NetScenario&, const std::string&, FaultList&) {}

template <class AnyScenario>
AnyScenario read(ConfigNode tree, const std::string& path) {
    AnyScenario scenario;
    scenario.written = std::move(tree);
    scenario.name = std::filesystem::path(path).stem().string();
    refuse_net(scenario);
    FaultList faults;
    Reader root(scenario.written, "", faults);
    const std::string folder = std::filesystem::path(path).parent_path().string();
    ReadKeys keys(root, folder, faults);
    visit(keys, scenario);
    root.finish();
    check_groups(scenario, folder, faults);
    if (find_non_utf8(scenario.name) < scenario.name.size())
        faults.add({{path, 0, 0}, "name", "the file's name, which stands in for it, is not UTF-8", "text in UTF-8",
                    "give a name"});
    faults.throw_if_any();
    return scenario;
}

}  // namespace

Scenario read_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return read<Scenario>(load_config(path, overrides), path);
}

Scenario parse_scenario(const std::string& text, const std::string& name, const std::vector<std::string>& overrides) {
    return read<Scenario>(parse_config(text, name, overrides), name);
}

NetScenario read_net_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return read<NetScenario>(load_config(path, overrides), path);
}

bool is_net_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return is_net(load_config(path, overrides));
}

NetScenario parse_net_scenario(const std::string& text, const std::string& name,
                               const std::vector<std::string>& overrides) {
    return read<NetScenario>(parse_config(text, name, overrides), name);
}

}  // namespace rehearse

#include "scenarios/read_scenario.hpp"

#include <filesystem>

#include "scenarios/read_keys.hpp"
#include "sim/config/load_config.hpp"
#include "sim/config/utf8.hpp"

namespace rehearse {

namespace {

Scenario read(ConfigNode tree, const std::string& path) {
    Scenario scenario;
    scenario.written = std::move(tree);
    scenario.name = std::filesystem::path(path).stem().string();
    FaultList faults;
    Reader root(scenario.written, "", faults);
    ReadKeys keys(root, std::filesystem::path(path).parent_path().string(), faults);
    scenario_keys(keys, scenario);
    root.finish();
    if (find_non_utf8(scenario.name) < scenario.name.size())
        faults.add({{path, 0, 0}, "name", "the file's name, which stands in for it, is not UTF-8", "text in UTF-8",
                    "give a name"});
    faults.throw_if_any();
    return scenario;
}

}  // namespace

Scenario read_scenario(const std::string& path, const std::vector<std::string>& overrides) {
    return read(load_config(path, overrides), path);
}

Scenario parse_scenario(const std::string& text, const std::string& name, const std::vector<std::string>& overrides) {
    return read(parse_config(text, name, overrides), name);
}

}  // namespace rehearse

#include "scenarios/read_scenario.hpp"

#include <filesystem>

#include "scenarios/read_parts.hpp"
#include "sim/config/load_config.hpp"

namespace rehearse {

namespace {

Scenario read(ConfigNode tree, const std::string& path) {
    Scenario scenario;
    scenario.written = std::move(tree);
    scenario.name = std::filesystem::path(path).stem().string();
    FaultList faults;
    Reader root(scenario.written, "", faults);
    root.read("name", scenario.name);
    root.read("seed", scenario.seed);
    read_cluster(root.child("cluster"), scenario.cluster);
    root.require("job", "job.gpus says how many GPUs train");
    root.require("training", "training.model says what is trained");
    if (root.has("job")) read_job(root.child("job"), scenario.job, scenario.training.parallel);
    if (root.has("training")) read_training(root.child("training"), scenario.training);
    read_models(root.child("models"), std::filesystem::path(path).parent_path().string(), scenario.models, faults);
    root.finish();
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

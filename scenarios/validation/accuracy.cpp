#include "scenarios/validation/accuracy.hpp"

#include <fmt/format.h>

#include <sstream>

#include "models/compute/profile_keys.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/reading/validate_scenario.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

constexpr std::string_view before_inputs = "<!-- inputs ", after_inputs = ": written by rehearse validate -->\n";

}  // namespace

std::string inputs_fingerprint(const std::vector<PublishedRow>& rows, const std::vector<std::string>& overrides) {
    Fingerprint inputs;
    for (const PublishedRow& row : rows) {
        const std::string path = data_path("scenarios/library/" + row.scenario + ".yaml").string();
        const ValidScenario scenario = validate(read_scenario(path, overrides));
        DeviceProfile profile = scenario.models().profile;
        profile.notes.clear();
        const auto figure = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : "-"; };
        for (const std::string& text : {scenario_yaml(scenario.plain()), write_profile(profile), figure(row.step_s),
                                        figure(row.mfu), fmt::format("{}", static_cast<int>(row.use))})
            inputs.add(std::string_view(text));
    }
    return fmt::format("{:016x}", inputs.value());
}

std::string accuracy_block(const std::string& inputs, const std::string& table, const std::string& notes) {
    std::string block = fmt::format("{}{}{}\n{}\n", before_inputs, inputs, after_inputs, table);
    std::istringstream lines(notes);
    for (std::string line; std::getline(lines, line);) block += fmt::format("- {}\n", line);
    return block;
}

std::string inputs_of_block(const std::string& block) {
    const std::size_t end = block.find(after_inputs);
    if (!block.starts_with(before_inputs) || end == block.npos) return "";
    return block.substr(before_inputs.size(), end - before_inputs.size());
}

}  // namespace rehearse

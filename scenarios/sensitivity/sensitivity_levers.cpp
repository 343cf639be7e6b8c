// Which numbers of a scenario are changed, how, and what each acts on.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "models/compute/profile_keys.hpp"
#include "scenarios/reading/scenario_yaml.hpp"
#include "scenarios/sensitivity/sensitivity.hpp"
#include "sim/base/units_text.hpp"
#include "sim/config/load_config.hpp"

namespace rehearse {

namespace {

using enum Expected;
using enum Lever::Act;
using enum Part;

// Words that are switched: the first is off, the second on. A word of neither column goes to the second.
struct SwitchedWords {
    std::string_view key, off, on;
};
constexpr SwitchedWords switched_words[] = {{"training.technique.operators", "unfused", "efficient"},
                                     {"training.recompute", "none", "full"},
                                     {"training.gradient_bytes", "2", "4"},
                                     {"training.parallel.zero", "0", "1"}};

// Scalars of the resolved scenario by dotted key; "" when there is none.
std::string value_at(const ConfigNode& root, const std::string& key) {
    const ConfigNode* node = &root;
    for (std::size_t from = 0; node != nullptr && from <= key.size();) {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        node = node->find(std::string_view(key).substr(from, dot - from));
        from = dot + 1;
    }
    return node == nullptr ? "" : node->text;
}

ConfigNode resolved(const ValidScenario& scenario) {
    return parse_config(scenario_yaml(scenario.plain()), "resolved.yaml");
}

std::int64_t integer(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// Whole numbers are doubled; rates and real numbers are scaled as what they are.
std::string doubled_text(const std::string& text) {
    if (text.find('.') != text.npos) return fmt::format("{}", 2 * std::stod(text));
    return fmt::format("{}", 2 * integer(text));
}

std::string halved_text(const std::string& text) {
    const auto rate = parse_bandwidth(text);
    if (!std::holds_alternative<Bandwidth>(rate)) return text;
    const Bandwidth half{std::get<Bandwidth>(rate).value / 2};
    return text.find("B/s") == text.npos ? format(half) : format_byte_rate(half);
}

struct Switched {
    std::string to;
    bool is_on = false;  // whether `to` is the technique's "on"
};

Switched switched_text(const std::string& key, const std::string& text, const ConfigNode& root) {
    if (key == "training.technique.window") {
        if (text != "off") return {"off", false};
        return {fmt::format("{}", integer(value_at(root, "training.model.sequence")) / 2), true};
    }
    for (const SwitchedWords& words : switched_words) {
        if (words.key != key) continue;
        const bool on = text == words.off || (text != words.on && key != "training.parallel.zero");
        return {std::string(on ? words.on : words.off), on};
    }
    return {text == "off" ? "on" : "off", text == "off"};
}

Expected opposite(Expected expected) {
    if (expected == either) return either;
    return expected == slower ? faster : slower;
}

double number(const std::string& text) {
    const auto rate = parse_bandwidth(text);
    if (const auto* bandwidth = std::get_if<Bandwidth>(&rate)) return static_cast<double>(bandwidth->value);
    double value = NAN;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// What going from one value to another should do; not known of a word that the lever does not know.
Expected expected_of(const Lever& lever, const std::string& from, const std::string& to, const ConfigNode& root) {
    if (lever.act == switched) {
        const Switched known = switched_text(lever.key, from, root);
        if (to != known.to) return either;
        return known.is_on ? lever.expected : opposite(lever.expected);
    }
    const double less = lever.act == doubled ? number(from) : number(to);
    const double more = lever.act == doubled ? number(to) : number(from);
    if (less < more) return lever.expected;
    return less > more ? opposite(lever.expected) : either;
}

// Numbers of the profile are changed in place: see apply_profile() in sensitivity.cpp.
Change profile_change(const Lever& lever, DeviceProfile profile) {
    const std::string key = lever.key.substr(lever.key.find('.') + 1);
    if (key == "nvlink.groups") {
        const Bandwidth bus = profile.local_links.back().bus;
        return {lever, format_byte_rate(bus), format_byte_rate(Bandwidth{bus.value / 2}), {}, lever.expected};
    }
    for (const ProfileEntry& entry : profile_entries(profile)) {
        if (entry.key != key) continue;
        const std::string from = text_of(entry);
        set_number(entry, get_number(entry) / 2);
        return {lever, from, text_of(entry), {}, lever.expected};
    }
    throw_invariant_broken(__FILE__, __LINE__, "key", "no profile number " + key);
}

}  // namespace

const std::vector<Lever>& levers() {
    static const std::vector<Lever> all{
        {"training.model.layers", doubled, slower, {compute}, {}, ""},
        {"training.model.hidden", doubled, slower, {compute}, {}, ""},
        {"training.model.sequence", doubled, slower, {compute}, {}, ""},
        {"training.model.vocab", doubled, slower, {compute}, {}, ""},
        {"training.batch_global", doubled, slower, {compute}, {}, ""},
        {"training.micro_batch", doubled, either, {compute, bubble}, {}, ""},
        {"training.technique.batch_factor", doubled, slower, {compute}, {}, ""},
        {"job.gpus", doubled, faster, {compute}, {}, ""},
        {"cluster.node.nvlink", halved, slower, {}, LinkTier::nvlink, ""},
        {"cluster.node.nic", halved, slower, {}, LinkTier::host, ""},
        {"cluster.node.pcie", halved, slower, {}, LinkTier::pcie, ""},
        {"cluster.fabric.switch_port_rate", halved, slower, {}, LinkTier::aggregation, ""},
        {"cluster.fabric.oversubscription", doubled, slower, {}, LinkTier::aggregation, ""},
        {"profile.device.peak", halved, slower, {compute}, {}, ""},
        {"profile.device.memory", halved, slower, {compute, optimizer}, {}, ""},
        {"profile.nvlink.groups", halved, slower, {tp_exposed}, {}, "tensor"},
        {"training.technique.parallel_block", switched, faster, {compute, tp_exposed}, {}, ""},
        {"training.technique.window", switched, faster, {compute}, {}, ""},
        {"training.technique.overlap_tensor", switched, faster, {tp_exposed}, {}, "tensor"},
        {"training.technique.overlap_pipeline", switched, faster, {pp_exposed}, {}, "pipeline"},
        {"training.technique.overlap_data", switched, faster, {dp_exposed}, {}, "data"},
        {"training.technique.overlap_input", switched, faster, {data}, {}, ""},
        {"training.technique.operators", switched, faster, {compute}, {}, ""},
        {"training.parallel.sequence", switched, either, {compute, tp_exposed}, {}, "tensor"},
        {"training.parallel.zero", switched, either, {optimizer, dp_exposed}, {}, "data"},
        {"training.recompute", switched, slower, {compute}, {}, ""},
        {"training.dropout", switched, slower, {compute}, {}, ""},
        {"training.model.experts.top_k", doubled, slower, {compute}, {}, ""},
        {"training.technique.overlap_operators", switched, faster, {ep_exposed, tp_exposed}, {}, ""},
        {"training.technique.overlap_tiles", switched, faster, {ep_exposed, tp_exposed}, {}, ""},
        {"training.capacity.factor", doubled, slower, {straggler_wait}, {}, ""},
        {"training.gradient_bytes", switched, slower, {dp_exposed}, {}, "data"}};
    return all;
}

std::vector<Change> standard_changes(const ValidScenario& scenario) {
    const ConfigNode root = resolved(scenario);
    std::vector<Change> changes;
    for (const Lever& lever : levers()) {
        if (lever.key.starts_with("profile.")) {
            changes.push_back(profile_change(lever, scenario.models().profile));
            continue;
        }
        Change change{lever, value_at(root, lever.key), "", {}, either};
        if (change.from.empty()) continue;  // the other kind of model has it
        if (lever.act == doubled) change.to = doubled_text(change.from);
        if (lever.act == halved) change.to = halved_text(change.from);
        if (lever.act == switched) change.to = switched_text(lever.key, change.from, root).to;
        change.expected = expected_of(lever, change.from, change.to, root);
        change.overrides = {lever.key + "=" + change.to};
        if (lever.key == "job.gpus")  // more GPUs are more replicas
            change.overrides.push_back("training.parallel.data=" +
                                       doubled_text(value_at(root, "training.parallel.data")));
        if (change.to != change.from) changes.push_back(std::move(change));
    }
    return changes;
}

Change change_of(const ValidScenario& scenario, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0)
        throw InputError({{{}, "--change", fmt::format("{} changes nothing", in_quotes(text)), "KEY=VALUE", ""}});
    const ConfigNode root = resolved(scenario);
    Change change;
    change.lever.key = text.substr(0, equals);
    change.from = value_at(root, change.lever.key);
    change.to = text.substr(equals + 1);
    change.overrides = {text};
    for (const Lever& lever : levers()) {
        if (lever.key != change.lever.key) continue;
        change.lever = lever;
        change.expected = expected_of(lever, change.from, change.to, root);
    }
    return change;
}

}  // namespace rehearse

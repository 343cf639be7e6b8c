#include "scenarios/reading/read_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/network/study/trace_file.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/reading/router_trace.hpp"
#include "scenarios/reading/slice_text.hpp"
#include "scenarios/text_file.hpp"
#include "sim/base/nearest.hpp"

namespace rehearse {

namespace {

namespace fs = std::filesystem;

// "" when there is no such file anywhere.
std::string find_profile(const std::string& name, const std::string& folder) {
    std::error_code ignored;
    const bool is_path = name.find('/') != name.npos || name.find(".yaml") != name.npos;
    const fs::path beside = fs::path(folder) / (is_path ? name : name + ".yaml");
    if (fs::is_regular_file(beside, ignored)) return beside.string();
    if (is_path) return "";
    try {
        return data_path("models/compute/profiles/" + name + ".yaml").string();
    } catch (const InputError&) {
        return "";
    }
}

}  // namespace

void ReadKeys::flag(std::string_view key, bool& value) {
    Switch state = value ? Switch::on : Switch::off;
    at_->read(key, state);
    value = is_on(state);
}

void ReadKeys::out_of_range(std::string_view key, const std::string& expected) {
    const ConfigNode* written = at_->node().find(key);  // the defaults are in range
    at_->fault(key, fmt::format("{} is out of range", in_quotes(written == nullptr ? "" : written->text)), expected);
}

void ReadKeys::rate(std::string_view key, Bandwidth& rate) {
    at_->read(key, rate);
    const auto& [least, most] = link_rates;
    if (rate < least || rate > most)
        out_of_range(key, fmt::format("{} to {}", format(least), format(most)));
}

void ReadKeys::byte_rate(std::string_view key, Bandwidth& rate, const KeyNote&) {
    at_->read(key, rate);
    const auto& [least, most] = bus_rates;
    if (rate.value != 0 && (rate < least || rate > most))
        out_of_range(key, fmt::format("{} to {}, or 0 B/s", format_byte_rate(least), format_byte_rate(most)));
}

void ReadKeys::duration(std::string_view key, SimDuration& duration) {
    at_->read(key, duration);
    const auto& [least, most] = durations;
    if (duration < least || duration > most)
        out_of_range(key, fmt::format("{} to {}", format(least), format(most)));
}

void ReadKeys::share(std::string_view key, Ratio& value, double most) {
    at_->read(key, value);
    if (!(value.value >= 0 && value.value <= most))
        out_of_range(key, fmt::format("0 to {}", most));
}

void ReadKeys::chip(std::string_view key, FabricSpec& fabric) {
    std::string chip;
    at_->read(key, chip);
    if (chip.empty() || chip == "custom") return;
    std::vector<std::string> known{"custom"};
    for (const SwitchChip& candidate : switch_chips) {
        if (candidate.name == chip) {
            fabric.switch_ports = candidate.ports;
            fabric.switch_port_rate = candidate.port_rate;
            return;
        }
        known.emplace_back(candidate.name);
    }
    const std::string near = nearest_word(chip, known);
    at_->fault(key, fmt::format("{} is no switch we know", in_quotes(chip)), fmt::format("{}", fmt::join(known, ", ")),
               near.empty() ? "give switch_ports and switch_port_rate" : fmt::format("did you mean \"{}\"?", near));
}

void ReadKeys::rank_order(std::string_view key, ParallelSpec& parallel) {
    std::vector<Dimension> order;
    at_->read_enum(key, order, dimension_words);
    const std::string expected = "tensor, data, pipeline (and context), fastest-varying first";
    const ConfigNode* node = at_->node().find(key);
    if (node != nullptr && node->kind == ConfigNode::Kind::list && node->items.empty())
        return at_->fault(key, "it names no dimension", expected, "leave the key out to take the default");
    if (order.empty()) return;
    if (std::find(order.begin(), order.end(), Dimension::context) == order.end()) {
        // Left out as most jobs have none: its place does not matter then; beside tensor it stays inside the node.
        const auto tensor = std::find(order.begin(), order.end(), Dimension::tensor);
        order.insert(tensor == order.end() ? tensor : tensor + 1, Dimension::context);
    }
    std::vector<Dimension> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() != 4 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        return at_->fault(key, "it does not name each dimension once", expected);
    std::copy(order.begin(), order.end(), parallel.rank_order.begin());
}

void ReadKeys::replicas(std::string_view key, std::int64_t& data) {
    data = 0;
    at_->read(key, data, count);
}

void ReadKeys::window(std::string_view key, std::int64_t& window) {
    const ConfigNode* node = at_->node().find(key);
    if (node != nullptr && node->kind == ConfigNode::Kind::scalar && node->text == "off") {
        at_->allow(key);
        window = 0;
        return;
    }
    at_->read(key, window, {0, token_count.max});
}

void ReadKeys::profile(std::string_view key, ModelsSpec& models) {
    at_->read(key, models.profile_name);
    models.profile_path = find_profile(models.profile_name, folder_);
    if (models.profile_path.empty())
        return at_->fault(key, fmt::format("no profile {}", in_quotes(models.profile_name)),
                          "a file beside the scenario or a name in models/compute/profiles");
    try {
        models.profile = read_profile(models.profile_path);
    } catch (const InputError& error) {
        for (const Fault& fault : error.faults()) faults_->add(fault);
    }
}

void ReadKeys::slice(std::string_view key, SliceSpec& slice) {
    if (!at_->has(key)) return at_->allow(key);
    std::string text;
    at_->read(key, text);
    const Parsed<SliceSpec> parsed = parse_slice(text);
    if (const auto* wrong = std::get_if<TextFault>(&parsed))
        return at_->fault(key, wrong->wrong, wrong->expected, wrong->todo);
    slice = std::get<SliceSpec>(parsed);
}

void ReadKeys::trace(std::string_view key, PatternSpec& pattern) {
    at_->read(key, pattern.trace);
    if (pattern.pattern != Pattern::trace) return;
    if (pattern.trace.empty())
        return at_->fault(key, "a trace without a file", "FILE.csv with source, destination, bytes, start in ps");
    const std::string path = (fs::path(folder_) / pattern.trace).string();
    try {
        pattern.flows = parse_trace(read_text(path), path, *faults_);
        pattern.trace = path;
    } catch (const InputError& error) {
        at_->fault(key, fmt::format("cannot read {}", in_quotes(path)), "a file beside the scenario, or a path");
    }
}

void ReadKeys::routing_source(std::string_view key, RoutingSpec& routing, std::int64_t experts) {
    at_->require(key, "recorded routing comes from a file");
    if (!at_->has(key) || experts < 1) return at_->allow(key);
    at_->read(key, routing.source);
    routing.source = (fs::path(folder_) / routing.source).string();
    std::error_code failed;
    if (!fs::is_regular_file(routing.source, failed))
        return at_->fault(key, fmt::format("no file {}", in_quotes(routing.source)), "a router trace in JSON lines");
    RouterTrace trace = read_router_trace(routing.source, static_cast<std::uint32_t>(experts));
    for (const Fault& fault : trace.faults.faults()) routing.skipped.push_back(to_string(fault));
    routing.trace_top_k = trace.top_k;
    if (trace.tokens == 0)
        at_->fault(key, fmt::format("nothing in {} can be counted", in_quotes(routing.source)), "a router trace",
                   routing.skipped.empty() ? "" : routing.skipped.front());
    routing.recorded = std::move(trace.recorded);
}

void ReadKeys::sweep(std::string_view key, std::vector<SweepAxis>& axes) {
    Reader all = at_->child(key);
    for (const std::string& axis_name : all.keys()) {
        const ConfigNode* const written = all.node().find(axis_name);
        Reader points = all.child(axis_name);
        if (written->kind == ConfigNode::Kind::scalar || written->kind == ConfigNode::Kind::list) continue;
        SweepAxis& axis = axes.emplace_back();
        axis.name = axis_name;
        for (const std::string& label : points.keys())
            points.read(label, axis.points.emplace_back(SweepPoint{label, {}}).set);
        if (axis.points.empty())
            all.fault(axis_name, "an axis without points", "LABEL: [key=value, ...], a line for each");
    }
    if (runs_of(axes) > sweep_runs_most)
        at_->fault(key, fmt::format("a sweep of {} runs", runs_of(axes)), fmt::format("at most {}", sweep_runs_most));
}

void ReadKeys::ablation(std::string_view key, std::vector<AblationGroup>& groups) {
    Reader all = at_->child(key);
    groups.clear();
    for (const std::string& name : all.keys()) {
        AblationGroup& group = groups.emplace_back(AblationGroup{name, {}});
        all.read(name, group.off);
        if (name.find(',') != name.npos)
            all.fault(name, "a group has a comma in its name", "a name without commas: they part names in --order");
        if (group.off.empty() && all.node().find(name)->kind == ConfigNode::Kind::list)
            all.fault(name, "a group that changes nothing", "NAME: [key=value, ...], the scenario without it");
    }
}

}  // namespace rehearse

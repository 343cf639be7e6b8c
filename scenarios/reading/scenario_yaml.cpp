#include "scenarios/reading/scenario_yaml.hpp"

#include <filesystem>

#include "scenarios/net/net_keys.hpp"
#include "scenarios/reading/slice_text.hpp"
#include "sim/config/yaml_writer.hpp"

namespace rehearse {

namespace {

// The resolved file may lie anywhere.
std::string absolute_path(const std::string& path) {
    std::error_code failed;
    const auto absolute = std::filesystem::absolute(path, failed);
    return failed ? path : absolute.lexically_normal().string();
}

// A profile of the library keeps its name; another one is named by its absolute path.
std::string portable_profile(const ModelsSpec& models) {
    if (models.profile_path.find("models/compute/profiles/" + models.profile_name + ".yaml") != std::string::npos)
        return models.profile_name;
    return absolute_path(models.profile_path);
}

// The visitor of scenario_keys.hpp that writes.
class WriteKeys {
public:
    template <class Body>
    void section(std::string_view key, const Body& body, std::string_view = "") {
        yaml_.begin_map(key);
        body();
        yaml_.end();
    }
    template <class Body>
    void part(std::string_view key, Switch is_written, const Body& body) {
        if (is_on(is_written)) section(key, body);
    }
    template <class T>
    void value(std::string_view key, const T& value, const KeyNote& note = {}) {
        yaml_.value(key, value, note.comment);
    }
    template <class E>
    void word(std::string_view key, E value, const Words<E>& words, std::string_view = "") {
        yaml_.value(key, word_for(words, value));
    }
    template <class E>
    void rare_word(std::string_view key, E value, const Words<E>& words) {
        if (value != words.begin()->second) word(key, value, words);
    }
    template <class T, class Body>
    void one_or_list(std::string_view key, std::vector<T>& items, const Body& body) {
        if (items.size() == 1) return body(items.front());
        list(key, items, body);
    }
    template <class T, class Body>
    void list(std::string_view key, std::vector<T>& items, const Body& body) {
        yaml_.begin_list(key);
        for (T& item : items) {
            yaml_.begin_item();
            body(item);
            yaml_.end();
        }
        yaml_.end();
    }
    void rate(std::string_view key, Bandwidth rate) { yaml_.value(key, rate); }
    void duration(std::string_view key, SimDuration duration) { yaml_.value(key, duration); }
    void byte_rate(std::string_view key, Bandwidth rate, const KeyNote& note = {}) {
        yaml_.value(key, format_byte_rate(rate), note.comment);
    }
    void flag(std::string_view key, bool value) { yaml_.value(key, value ? Switch::on : Switch::off); }
    void share(std::string_view key, Ratio value, double) { yaml_.value(key, value); }
    void fault(std::string_view, const char*, const char*) {}

    void chip(std::string_view key, const FabricSpec& fabric) {
        std::string_view chip = "custom";
        for (const SwitchChip& known : switch_chips) {
            if (known.ports == fabric.switch_ports && known.port_rate == fabric.switch_port_rate) chip = known.name;
        }
        yaml_.value(key, chip);
    }
    void rank_order(std::string_view key, const ParallelSpec& parallel) {
        std::vector<std::string> order;
        for (const Dimension dimension : parallel.rank_order) order.emplace_back(name(dimension));
        yaml_.list(key, order, "fastest-varying first");
    }
    void replicas(std::string_view key, std::int64_t data) {
        if (data > 0) yaml_.value(key, data);
    }
    void window(std::string_view key, std::int64_t window) {
        if (window == 0) yaml_.value(key, "off");
        else yaml_.value(key, window, "tokens");
    }
    void profile(std::string_view key, const ModelsSpec& models) { yaml_.value(key, portable_profile(models)); }

    void slice(std::string_view key, const SliceSpec& slice) {
        if (slice.is_bounded()) yaml_.value(key, format(slice));
    }

    void trace(std::string_view key, const PatternSpec& pattern) {
        if (pattern.pattern == Pattern::trace) yaml_.value(key, absolute_path(pattern.trace));
    }

    // A sweep says what each of its runs changes; no sweep says nothing.
    void sweep(std::string_view key, const std::vector<SweepAxis>& axes) {
        if (axes.empty()) return;
        yaml_.begin_map(key);
        for (const SweepAxis& axis : axes) {
            yaml_.begin_map(axis.name);
            for (const SweepPoint& point : axis.points) yaml_.list(point.label, point.set);
            yaml_.end();
        }
        yaml_.end();
    }

    void ablation(std::string_view key, const std::vector<AblationGroup>& groups) {
        if (groups.empty()) return;
        yaml_.begin_map(key);
        for (const AblationGroup& group : groups) yaml_.list(group.name, group.off);
        yaml_.end();
    }

    void routing_source(std::string_view key, const RoutingSpec& routing, std::int64_t) {
        yaml_.value(key, absolute_path(routing.source));
    }

    const std::string& text() const { return yaml_.text(); }

private:
    YamlWriter yaml_;
};

}  // namespace

std::string scenario_yaml(const Scenario& scenario) {
    Scenario copy = scenario;  // the lists are the reader's too, which changes what it visits
    WriteKeys keys;
    scenario_keys(keys, copy);
    return keys.text();
}

std::string scenario_yaml(const NetScenario& scenario) {
    NetScenario copy = scenario;
    WriteKeys keys;
    net_scenario_keys(keys, copy);
    return keys.text();
}

}  // namespace rehearse

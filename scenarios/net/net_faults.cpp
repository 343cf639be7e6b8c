#include "scenarios/net/net_faults.hpp"

#include <fmt/format.h>

#include <optional>

#include "scenarios/reading/words.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

using Json = nlohmann::ordered_json;

struct FaultEffect {
    std::string kind, where;
    SimTime begin;
    std::optional<SimTime> end;
    std::optional<SimDuration> noticed;  // from its begin
    bool can_be_noticed = false;
    std::uint64_t times = 1, frames_lost = 0, pauses = 0;
};

std::optional<SimDuration> noticed(const LinkFault& fault, const DetectionSpec& detection) {
    const SimDuration delay = detection_delay(detection);
    if (delay == SimDuration{INT64_MAX} || fault.end - fault.begin <= delay) return std::nullopt;
    return delay;
}

// Both ways of a cable, all links of a switch; of a lossy link the one way that loses.
bool touches(const PlannedFault& planned, LinkId id, const Link& link) {
    const LinkFault& fault = planned.fault;
    if (fault.kind == LinkFaultKind::dead_switch) return link.from == fault.vertex || link.to == fault.vertex;
    return id == fault.link || (fault.kind != LinkFaultKind::lossy && id == planned.back);
}

std::uint64_t frames_lost(const NetOutcome& outcome, const PlannedFault& planned) {
    std::uint64_t lost = 0;
    for (std::uint32_t l = 0; l < outcome.record.links.size(); ++l) {
        if (touches(planned, LinkId{l}, outcome.cluster.link(LinkId{l}))) lost += outcome.record.links[l].losses;
    }
    return lost;
}

std::string where(const FabricFault& asked) {
    if (asked.kind == FabricFaultKind::dead_switch) return asked.switch_name;
    if (asked.kind == FabricFaultKind::pause_storm) return fmt::format("NIC of GPU {}", asked.gpu);
    return fmt::format("{} -> {}", asked.from, asked.to);
}

FaultEffect effect_of(const NetOutcome& outcome, std::uint32_t origin) {
    const FabricFault& asked = outcome.scenario.packet().faults[origin];
    FaultEffect effect;
    effect.kind = word_for(fabric_fault_words, asked.kind);
    effect.where = where(asked);
    effect.begin = SimTime{} + asked.begin;
    if (asked.end > SimDuration{0}) effect.end = SimTime{} + asked.end;
    effect.times = 0;
    for (const PlannedFault& planned : outcome.plan.links) {
        if (planned.origin != origin) continue;
        const LinkFault& fault = planned.fault;
        if (fault.end != SimTime{INT64_MAX}) effect.end = fault.end;
        effect.can_be_noticed = fault.kind == LinkFaultKind::down || fault.kind == LinkFaultKind::dead_switch;
        if (effect.can_be_noticed) effect.noticed = noticed(fault, outcome.scenario.packet().detection);
        if (effect.times++ == 0) effect.frames_lost = frames_lost(outcome, planned);  // the same link each time
    }
    if (asked.kind != FabricFaultKind::pause_storm) return effect;
    effect.times = 1;
    const VertexId nic = outcome.cluster.nic_vertex(GpuId{static_cast<std::uint32_t>(asked.gpu)});
    for (const LinkId link : outcome.cluster.out_links(nic))
        effect.pauses += outcome.record.links[link.value].pauses;
    return effect;
}

}  // namespace

Json faults_json(const NetOutcome& outcome) {
    const auto micros = [](std::int64_t ps) { return static_cast<double>(ps) * 1e-6; };
    Json rows = Json::array();
    for (std::uint32_t i = 0; i < outcome.scenario.packet().faults.size(); ++i) {
        const FaultEffect effect = effect_of(outcome, i);
        rows.push_back({{"kind", effect.kind},
                        {"where", effect.where},
                        {"times", effect.times},
                        {"begin_us", micros(effect.begin.value)},
                        {"end_us", effect.end ? Json(micros(effect.end->value)) : Json()},
                        {"noticed_after_us", effect.noticed ? Json(micros(effect.noticed->value)) : Json()},
                        {"frames_lost", effect.frames_lost},
                        {"pauses", effect.pauses}});
    }
    return rows;
}

std::string fault_lines(const NetOutcome& outcome) {
    if (outcome.plan.links.empty() && outcome.plan.storms.empty()) return "";
    const std::string_view mode = name(outcome.scenario.packet().detection.mode);
    std::string text = "\nfaults:\n";
    for (std::uint32_t i = 0; i < outcome.scenario.packet().faults.size(); ++i) {
        const FaultEffect effect = effect_of(outcome, i);
        text += fmt::format("  {:<11} {}, from {}", effect.kind, effect.where, format(effect.begin - SimTime{}));
        if (effect.end) text += fmt::format(" to {}", format(*effect.end - SimTime{}));
        if (effect.times > 1) text += fmt::format(", {} times", effect.times);
        if (effect.noticed) text += fmt::format("; noticed after {} ({})", format(*effect.noticed), mode);
        else if (effect.can_be_noticed) text += fmt::format("; not noticed ({})", mode);
        if (effect.frames_lost > 0) text += fmt::format("; {} frames lost", effect.frames_lost);
        if (effect.pauses > 0) text += fmt::format("; {} pauses", effect.pauses);
        text += "\n";
    }
    return text;
}

}  // namespace rehearse

#include <fmt/format.h>

#include <utility>

#include "scenarios/net/net_faults.hpp"
#include "scenarios/net/net_results.hpp"
#include "scenarios/reading/words.hpp"
#include "scenarios/short_number.hpp"
#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

std::string pattern_line(const PatternSpec& pattern) {
    std::string text = fmt::format("  {}", word_for(pattern_words, pattern.pattern));
    if (pattern.pattern == Pattern::trace)
        return text + fmt::format(" {}, {} flows\n", pattern.trace, pattern.flows.size());
    const std::int64_t group = pattern.group == 0 ? pattern.members : pattern.group;
    if (pattern.pattern == Pattern::incast) text += fmt::format(" of {} senders", pattern.senders);
    else text += fmt::format(" among {} members", pattern.members);
    if (group != pattern.members) text += fmt::format(", groups of {}", group);
    text += fmt::format(", {} each", format(pattern.message));
    if (pattern.repetitions > 1) text += fmt::format(", {} times", pattern.repetitions);
    return text + "\n";
}

std::string times(const StudyFigures& figures) {
    const bool any = figures.flows > figures.failed + figures.blocked;
    const auto row = [any](std::string_view what, const Spread& s, int digits) {
        if (!any) return fmt::format("{:<14} -   (no flow ended whole)\n", what);
        return fmt::format("{:<14} p50 {:.{}f}   p99 {:.{}f}   max {:.{}f}   (min {:.{}f}, mean {:.{}f})\n", what,
                           s.p50, digits, s.p99, digits, s.max, digits, s.min, digits, s.mean, digits);
    };
    std::string text = row("FCT, us", figures.fct_us, 3) + row("slowdown", figures.slowdown, 3);
    text +=
        fmt::format("{:<14} {:.6g} Gbps in all, end at {:.3f} us\n", "goodput", figures.goodput_gbps, figures.end_us);
    text += fmt::format("{:<14} {} whole", "flows", figures.flows - figures.failed - figures.blocked);
    if (figures.failed > 0) text += fmt::format(", {} failed (retries used up)", figures.failed);
    if (figures.blocked > 0) text += fmt::format(", {} BLOCKED", figures.blocked);
    return text + "\n";
}

std::string packet_counts(const StudyFigures& figures) {
    const PortCounters& sum = figures.sum;
    return fmt::format(
        "{:<14} {} ({} data, {} control)\n"
        "{:<14} {} drops, {} discards by watchdogs, {} losses, {} retransmissions, {} link replays, {} frames given "
        "up\n"
        "{:<14} {} timeouts, a flow waited {:.3f} us at most for them\n"
        "{:<14} {} pauses ({:.3f} us of links paused), {} ECN marks\n",
        "transmissions", sum.data + sum.control, sum.data, sum.control, "lost", sum.drops, sum.discards, sum.losses,
        figures.retransmissions, sum.replays, sum.given_up, "stalled", figures.timeouts, figures.stalled_us,
        "held back", sum.pauses, SimDuration{sum.paused}.seconds() * 1e6, sum.marks);
}

std::string tier_lines(const NetOutcome& outcome) {
    const bool packets = outcome.scenario.network().fidelity == Fidelity::packet;
    std::string text = "\nper tier:\n";
    for (std::size_t t = 0; t < link_tier_count; ++t) {
        const PortCounters& tier = outcome.figures.tiers[t];
        if (tier.bytes == 0) continue;
        text += fmt::format("  {:<11} {:>9}", name(static_cast<LinkTier>(t)),
                            short_number(static_cast<double>(tier.bytes), "B"));
        if (packets)
            text += fmt::format("   {} transmissions, {} pauses, {} marks, {} drops, queue peak {}",
                                tier.data + tier.control, tier.pauses, tier.marks, tier.drops,
                                short_number(static_cast<double>(tier.queue_peak), "B"));
        text += "\n";
    }
    return text;
}

std::string link_lines(const NetOutcome& outcome) {
    const Cluster& cluster = outcome.cluster;
    const auto between = [&](LinkId id) {
        const Link& link = cluster.link(id);
        return fmt::format("{:<11}  {} -> {}\n", name(link.tier), cluster.vertex_name(link.from),
                           cluster.vertex_name(link.to));
    };
    std::string text = "\nbusiest links:\n";
    std::array<bool, link_tier_count> shown{};
    for (const LinkLoad& load : outcome.figures.busiest) {
        if (std::exchange(shown[static_cast<std::size_t>(cluster.link(load.link).tier)], true)) continue;
        text += fmt::format("  {:>5.1f} %  {}", 100 * load.utilisation, between(load.link));
    }
    if (outcome.figures.queues_longest.empty()) return text;
    text += "\nlongest queues:\n";
    for (const LinkId id : outcome.figures.queues_longest)
        text += fmt::format("  {:>8}  {}",
                            short_number(static_cast<double>(outcome.record.links[id.value].queue_peak), "B"),
                            between(id));
    return text;
}

std::string fast_forward_line(const NetOutcome& outcome) {
    const ForwardRecord& forward = outcome.record.forward;
    if (outcome.scenario.net().fast_forward == FastForwardMode::off) return "";
    if (forward.skips == 0) return "\nfast-forward: nothing settled for long enough; nothing was skipped\n";
    std::string line = fmt::format(
        "\nfast-forward: {} skips, {:.3g} events left out, {:.1f} times fewer (their counts are those of like periods)",
        forward.skips, static_cast<double>(forward.events_left_out), forward.times_fewer());
    if (outcome.scenario.net().fast_forward == FastForwardMode::check) {
        const double full = outcome.record.end.seconds(), skipped = forward.end.seconds();
        line += fmt::format("; its end at {:.3f} us, {:+.2f} % of the full run", skipped * 1e6,
                            100 * (skipped / full - 1));
    }
    return line + "\n";
}

}  // namespace

std::string summary(const NetOutcome& outcome) {
    const ValidNetScenario& scenario = outcome.scenario;
    const bool packets = scenario.network().fidelity == Fidelity::packet;
    std::string text = fmt::format(
        "{}\n{} GPUs, {} network, {} framing, {}\n", scenario.name(), outcome.cluster.gpu_count(),
        word_for(fidelity_words, scenario.network().fidelity), word_for(framing_words, scenario.network().framing),
        word_for(flow_control_words, scenario.network().flow_control));
    for (const PatternSpec& pattern : scenario.net().patterns) text += pattern_line(pattern);
    text += "\n" + times(outcome.figures);
    if (packets) text += packet_counts(outcome.figures);
    text += fault_lines(outcome) + tier_lines(outcome) + link_lines(outcome);
    if (!outcome.record.buffer_cycle.empty())
        text += "\ncyclic buffer dependency, which may deadlock: " + outcome.record.buffer_cycle + "\n";
    text += fast_forward_line(outcome);
    return text + fmt::format("\nseed {}, fingerprint {:016x}\n", scenario.seed(), outcome.record.fingerprint);
}

}  // namespace rehearse

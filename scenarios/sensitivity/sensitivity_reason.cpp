// Why a change moved the step, or why it did not: in words, from the figures of both runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/sensitivity/sensitivity.hpp"

namespace rehearse {

namespace {

double seconds(const Showing& run, Part part) { return run.metrics.breakdown_s[static_cast<std::size_t>(part)]; }
double share(const Showing& run, Part part) { return seconds(run, part) / run.metrics.step_time_s; }

struct Move {
    Part part;
    double seconds;
};

// All parts, those that moved most first.
std::vector<Move> moves(const Showing& before, const Showing& after) {
    std::vector<Move> all;
    for (std::size_t i = 0; i < part_count; ++i) {
        const auto part = static_cast<Part>(i);
        all.push_back({part, seconds(after, part) - seconds(before, part)});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Move& a, const Move& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
    return all;
}

// At most two; one that moved less than a tenth as much as the first says nothing.
std::string moves_text(const std::vector<Move>& moves) {
    std::string text = fmt::format("{} {:+.3g} s", name(moves[0].part), moves[0].seconds);
    if (std::abs(moves[1].seconds) >= 0.1 * std::abs(moves[0].seconds))
        text += fmt::format(", {} {:+.3g} s", name(moves[1].part), moves[1].seconds);
    return text;
}

std::string link_reason(LinkTier tier, const Showing& before, const Showing& after) {
    const auto at = static_cast<std::size_t>(tier);
    std::string text = fmt::format("no byte crosses the {} links", name(tier));
    if (before.metrics.bytes_per_tier[at] > 0) {
        const auto most = std::max_element(before.busiest.begin(), before.busiest.end());
        text = fmt::format("the busiest {} link is {:.2g} % busy, {:.2g} % after", name(tier), 100 * before.busiest[at],
                           100 * after.busiest[at]);
        if (*most > before.busiest[at])
            text += fmt::format(", the busiest {} link {:.2g} %",
                                name(static_cast<LinkTier>(most - before.busiest.begin())), 100 * *most);
    }
    if (tier == LinkTier::nvlink && seconds(before, Part::tp_exposed) > 0)
        text += "; tensor collectives run at the rates of profile.nvlink.groups instead";
    return text;
}

std::string part_reason(Part part, const Showing& before, const Showing& after) {
    return fmt::format("{} is {:.2g} % of the step, {:.2g} % after", name(part), 100 * share(before, part),
                       100 * share(after, part));
}

std::string no_effect(const Change& change, std::int64_t degree, const Showing& before, const Showing& after) {
    const Lever& lever = change.lever;
    std::string text;
    const auto add = [&text](const std::string& sentence) { text += (text.empty() ? "" : "; ") + sentence; };
    if (before.fingerprint == after.fingerprint) add("every event comes at the same time");
    if (!lever.group.empty() && degree == 1) {
        add(fmt::format("training.parallel.{} is 1: there is no group that communicates", lever.group));
    } else {
        if (lever.tier) add(link_reason(*lever.tier, before, after));
        for (const Part part : lever.parts) add(part_reason(part, before, after));
    }
    const std::vector<Move> inside = moves(before, after);
    if (std::abs(inside[0].seconds) >= noticeable * before.metrics.step_time_s)
        add("inside it " + moves_text(inside));
    const auto& parts = before.metrics.breakdown_s;
    const auto largest = static_cast<Part>(std::max_element(parts.begin(), parts.end()) - parts.begin());
    const bool said = std::find(lever.parts.begin(), lever.parts.end(), largest) != lever.parts.end();
    if (!said) add(fmt::format("{} bounds the step with {:.3g} %", name(largest), 100 * share(before, largest)));
    return text;
}

}  // namespace

std::string reason_of(const Change& change, std::int64_t degree, const Showing& before, const Showing& after) {
    const double difference = after.metrics.step_time_s / before.metrics.step_time_s - 1;
    if (std::abs(difference) < noticeable) return no_effect(change, degree, before, after);
    const Expected seen = difference > 0 ? Expected::slower : Expected::faster;
    const bool against = change.expected != Expected::either && change.expected != seen;
    return (against ? "against expectation: " : "") + moves_text(moves(before, after));
}

}  // namespace rehearse

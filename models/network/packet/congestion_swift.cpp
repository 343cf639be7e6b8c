// Swift, and the law that borrows from it.
#include <algorithm>
#include <cmath>

#include "models/network/packet/congestion_laws.hpp"

namespace rehearse {

SwiftState begin_swift(const PathFacts& path, const SwiftParameters& parameters) {
    SwiftState state;
    const double filled = path.line_rate * static_cast<double>(path.base_rtt) * 1e-12 / path.packet_bits;
    state.window = std::clamp(filled, 1.0, parameters.window_max);
    state.delay = path.base_rtt;
    return state;
}

double swift_target(double window, std::uint32_t switches, const SwiftParameters& parameters) {
    const auto range = static_cast<double>(parameters.range.value);
    const double at_max = 1 / std::sqrt(parameters.window_max);
    const double slope = range / (1 / std::sqrt(parameters.window_min) - at_max);
    const double scaling = std::clamp(slope * (1 / std::sqrt(window) - at_max), 0.0, range);
    const double hops = switches * static_cast<double>(parameters.hop_target.value);
    return static_cast<double>(parameters.base_target.value) + hops + scaling;
}

double swift_cut(double delay, double target, const SwiftParameters& parameters) {
    if (delay <= target) return 0;
    return std::min(parameters.decrease * (delay - target) / delay, parameters.cut_max);
}

void acknowledge(SwiftState& state, const AckEvent& event, const PathFacts& path, const SwiftParameters& parameters) {
    state.delay = event.delay;
    const auto delay = static_cast<double>(event.delay);
    const double target = swift_target(state.window, path.switches, parameters);
    if (delay < target) {
        state.window += parameters.increase * event.newly / std::max(state.window, 1.0);
    } else if (event.now - state.cut >= event.delay) {
        state.window *= 1 - swift_cut(delay, target, parameters);
        state.cut = event.now;
    }
    state.window = std::clamp(state.window, parameters.window_min, parameters.window_max);
}

Allowance allowance(const SwiftState& state, const PathFacts& path) {
    if (state.window >= 1) return {path.line_rate, static_cast<std::uint32_t>(state.window)};
    const double paced = state.window * path.packet_bits / static_cast<double>(state.delay) * 1e12;
    return {std::min(paced, path.line_rate), 1};
}

MegascaleState begin_megascale(const PathFacts& path, const MegascaleParameters& parameters) {
    MegascaleState state;
    state.rate = path.line_rate;
    state.share.alpha = parameters.dcqcn.alpha_first;
    return state;
}

void acknowledge(MegascaleState& state, const AckEvent& event, const PathFacts& path,
                 const MegascaleParameters& parameters) {
    const auto delay = static_cast<double>(event.delay);
    const auto target = static_cast<double>(path.base_rtt + parameters.queue_target.value);
    advance(state.share, event.now, parameters.dcqcn);
    double cut = swift_cut(delay, target, parameters.swift);
    if (event.is_marked) {
        cut = std::max(cut, state.share.alpha / 2);
        raise(state.share, event.now, parameters.dcqcn);
    }
    if (cut > 0) {
        if (event.now < state.next_cut) return;
        state.rate = std::max(state.rate * (1 - cut), parameters.dcqcn.rate_min);
        state.next_cut = event.now + event.delay;
        state.changed = event.now;
    } else if (event.now - state.changed >= event.delay) {
        state.rate += parameters.swift.increase * path.packet_bits / delay * 1e12;
        state.rate = std::min(state.rate, path.line_rate);
        state.changed = event.now;
    }
}

}  // namespace rehearse

#include <algorithm>
#include <cmath>

#include "models/network/packet/congestion_laws.hpp"

namespace rehearse {

namespace {

double packets_on(const PathFacts& path) {  // that fill the empty path
    return path.line_rate * static_cast<double>(path.base_rtt) * 1e-12 / path.packet_bits;
}

// The busiest hop between the last telemetry and this one: bytes in flight over what the hop carries in T.
void measure(HpccState& state, std::span<const HopRecord> hops, const PathFacts& path) {
    const double t = static_cast<double>(path.base_rtt) * 1e-12;
    double busiest = 0, passed = 0;
    for (std::size_t i = 0; i < hops.size(); ++i) {
        const HopRecord& now = hops[i];
        const HopRecord& before = state.last[i];
        if (now.port != before.port || now.time <= before.time) continue;  // another path, or out of order
        const double seconds = static_cast<double>(now.time - before.time) * 1e-12;
        const double queue = static_cast<double>(std::min(now.queue, before.queue)) * 8 / (now.rate * t);
        const double use = queue + static_cast<double>(now.sent - before.sent) * 8 / seconds / now.rate;
        if (use <= busiest) continue;
        busiest = use;
        passed = seconds;
    }
    const double weight = std::min(passed, t) / t;
    state.utilisation = (1 - weight) * state.utilisation + weight * busiest;
}

}  // namespace

HpccState begin_hpcc(const PathFacts& path) {
    HpccState state;
    state.window = state.window_reference = packets_on(path);
    return state;
}

void acknowledge(HpccState& state, const AckEvent& event, const PathFacts& path, const HpccParameters& parameters) {
    if (event.hops.empty()) return;
    if (state.last.size() == event.hops.size()) {
        measure(state, event.hops, path);
        const bool renews = event.acked > state.reference_until;
        const bool multiplies =
            state.utilisation >= parameters.utilisation || state.stage >= parameters.stages_max;
        state.window = state.window_reference + parameters.increase;
        if (multiplies) {
            state.window = state.window_reference * parameters.utilisation / state.utilisation + parameters.increase;
        }
        state.window = std::clamp(state.window, parameters.increase, packets_on(path));
        if (renews) {
            state.stage = multiplies ? 0 : state.stage + 1;
            state.window_reference = state.window;
            state.reference_until = event.next;
        }
    }
    state.last.assign(event.hops.begin(), event.hops.end());
}

Allowance allowance(const HpccState& state, const PathFacts& path) {
    const double rate = state.window * path.packet_bits / static_cast<double>(path.base_rtt) * 1e12;
    return {std::min(rate, path.line_rate), static_cast<std::uint32_t>(std::ceil(std::max(state.window, 1.0)))};
}

}  // namespace rehearse

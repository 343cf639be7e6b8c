#include <algorithm>
#include <cmath>

#include "models/network/packet/congestion_laws.hpp"

namespace rehearse {

namespace {

constexpr double recovered = 1 - 0x1p-20;  // share of the line rate at which recovery ends

void increase(DcqcnState& state, const DcqcnParameters& parameters) {
    const bool has_bytes = parameters.byte_counter > Bytes{0};
    const std::uint32_t bytes = has_bytes ? state.byte_stage : state.timer_stage;
    const std::uint32_t low = std::min(state.timer_stage, bytes), high = std::max(state.timer_stage, bytes);
    if (low > parameters.fast_stages) {
        state.target += parameters.increase_hyper;
    } else if (high >= parameters.fast_stages) {
        state.target += parameters.increase;
    }
    state.target = std::min(state.target, state.rate_max);
    state.rate = (state.rate + state.target) / 2;
    if (state.rate < recovered * state.rate_max) return;
    state.rate = state.rate_max;
    state.increase_due = INT64_MAX;
}

}  // namespace

// A CNP at the very end of a period still belongs to it.
void advance(MarkShare& share, std::int64_t now, const DcqcnParameters& parameters) {
    if (share.decay_due >= now) return;
    const std::int64_t period = parameters.alpha_period.value;
    const std::int64_t periods = (now - share.decay_due - 1) / period + 1;
    share.alpha *= std::pow(1 - parameters.g, static_cast<double>(periods));
    share.decay_due += periods * period;
}

void raise(MarkShare& share, std::int64_t now, const DcqcnParameters& parameters) {
    advance(share, now, parameters);
    if (now - share.raised >= std::min(parameters.alpha_period, parameters.cut_gap).value) {
        share.alpha = (1 - parameters.g) * share.alpha + parameters.g;
        share.raised = now;
    }
    share.decay_due = now + parameters.alpha_period.value;
}

DcqcnState begin_dcqcn(const PathFacts& path, const DcqcnParameters& parameters) {
    DcqcnState state;
    state.rate = state.target = state.rate_max = path.line_rate;
    state.share.alpha = parameters.alpha_first;
    return state;
}

void advance(DcqcnState& state, std::int64_t now, const DcqcnParameters& parameters) {
    while (state.increase_due <= now) {
        state.increase_due += parameters.increase_period.value;
        increase(state, parameters);
        ++state.timer_stage;
    }
}

void notify(DcqcnState& state, std::int64_t now, const DcqcnParameters& parameters) {
    advance(state, now, parameters);
    advance(state.share, now, parameters);
    if (now - state.cut >= parameters.cut_gap.value) {
        if (is_on(parameters.clamp_target) || state.timer_stage > 0) state.target = state.rate;
        state.rate = std::max(state.rate * (1 - state.share.alpha / 2), parameters.rate_min);
        state.cut = now;
        state.increase_due = now + parameters.increase_period.value;
        state.bytes = 0;
        state.timer_stage = state.byte_stage = 0;
    }
    raise(state.share, now, parameters);
}

void sent(DcqcnState& state, std::int64_t now, std::int64_t bytes, const DcqcnParameters& parameters) {
    advance(state, now, parameters);
    if (parameters.byte_counter == Bytes{0} || state.increase_due == INT64_MAX) return;
    state.bytes += bytes;
    while (state.bytes >= parameters.byte_counter.value && state.increase_due != INT64_MAX) {
        state.bytes -= parameters.byte_counter.value;
        increase(state, parameters);
        ++state.byte_stage;
    }
}

}  // namespace rehearse

#include "models/network/study/fluid_run.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

FluidRun::FluidRun(NetworkModel& model, const std::vector<StudyFlow>& flows, const IdleTimes& times)
    : model_(model), flows_(flows), senders_(flows.size()) {
    for (std::size_t begin = 0, end = 0; begin < flows.size(); begin = end) {
        const StudyFlow& flow = flows[begin];
        end = begin + 1;
        while (flow.ring != 0 && end < flows.size() && flows[end].ring == flow.ring) ++end;
        SimDuration stored;  // around the ring
        for (std::size_t f = begin; f < end; ++f) {
            senders_[f].path = times.path(flows[f]);
            senders_[f].members = static_cast<std::uint32_t>(end - begin);
            stored += senders_[f].path.store_and_forward;
        }
        const bool is_alone = flow.grants.empty() && flow.granted >= flow.messages;
        if (flow.ring == 0 && !is_alone) senders_[begin].transfers = flow.messages;
        if (flow.ring == 0) continue;
        // Each message waits for the one before, on the next hop: on average, a hop's share of the lap.
        const auto hops = static_cast<std::int64_t>(end - begin);
        for (std::size_t f = begin; f < end; ++f)
            senders_[f].path.store_and_forward = SimDuration{stored.value / hops} * flow.messages;
    }
}

void FluidRun::start_ring(std::uint32_t first) {
    const StudyFlow& flow = flows_[first];
    std::vector<GpuId> gpus;
    for (std::uint32_t i = 0; i < senders_[first].members; ++i) gpus.push_back(flows_[first + i].source);
    TransferRequest request;
    request.pattern = TransferPattern::ring;
    request.gpus = gpus;
    request.size = flow.message * flow.messages;
    request.steps = static_cast<std::uint32_t>(flow.messages);
    request.token = first;
    model_.start(flow.start, request);
    ++senders_[first].started;
}

void FluidRun::start_next(std::uint32_t index) {
    const StudyFlow& flow = flows_[index];
    Sender& sender = senders_[index];
    if (sender.is_moving || sender.started == sender.transfers) return;
    SimTime granted = flow.start;
    if (sender.started >= flow.granted) {
        const auto later = static_cast<std::size_t>(sender.started - flow.granted);
        if (later >= sender.granted.size()) return;
        granted = sender.granted[later];
    }
    const GpuId ends[] = {flow.source, flow.destination};
    TransferRequest request;
    request.gpus = ends;
    request.messages = flow.messages / sender.transfers;
    request.size = flow.message * request.messages;
    request.steps = 0;  // the latency passes while the message before it moves
    request.token = index;
    model_.start(std::max(sender.drained, granted + sender.path.latency), request);
    ++sender.started;
    sender.is_moving = true;
}

void FluidRun::drain(std::uint32_t index, SimTime at) {
    Sender& sender = senders_[index];
    if (flows_[index].ring != 0) {
        for (std::uint32_t i = 0; i < sender.members; ++i) senders_[index + i].drained = at;
        return;
    }
    sender.drained = at;
    sender.is_moving = false;
    arrivals_.push({at + sender.path.store_and_forward, arrival_count_++, index});
    start_next(index);
}

void FluidRun::arrive(std::uint32_t index, SimTime at) {
    const StudyFlow& flow = flows_[index];
    const std::int64_t arrived = ++senders_[index].arrived;
    if (flow.sibling != no_flow && senders_[flow.sibling].arrived < arrived) return;
    for (const std::uint32_t next : flow.grants) {
        senders_[next].granted.push_back(at);
        start_next(next);
    }
}

void FluidRun::run() {
    for (std::uint32_t f = 0; f < flows_.size();) {
        if (flows_[f].ring != 0) start_ring(f);
        else start_next(f);
        f += senders_[f].members;
    }
    std::vector<Completion> done;
    while (true) {
        SimTime now = model_.next_event_time();
        if (!arrivals_.empty()) now = std::min(now, arrivals_.top().at);
        if (now == SimTime{INT64_MAX}) break;
        done.clear();
        model_.advance(now, done);
        for (const Completion& one : done) drain(static_cast<std::uint32_t>(one.token), one.at);
        while (!arrivals_.empty() && arrivals_.top().at <= now) {
            const Arrival arrival = arrivals_.top();
            arrivals_.pop();
            arrive(arrival.flow, arrival.at);
        }
    }
    for (std::uint32_t f = 0; f < flows_.size(); f += senders_[f].members)
        REHEARSE_CHECK(senders_[f].started == senders_[f].transfers, "a flow waits for messages that never come");
}

SimTime FluidRun::finished(std::size_t flow) const {
    const Sender& sender = senders_[flow];
    return sender.drained + sender.path.store_and_forward + sender.path.ack_return;
}

}  // namespace rehearse

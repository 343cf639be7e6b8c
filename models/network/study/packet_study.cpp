#include <algorithm>
#include <map>
#include <optional>

#include "models/network/packet/buffer_dependency.hpp"
#include "models/network/study/fast_forward.hpp"
#include "models/network/study/study.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

// Samples at a fixed interval; when their number reaches the bound, every other one goes and the interval doubles.
class Sampler {
public:
    explicit Sampler(const StudyWatch& watch) : interval_(watch.interval), most_(watch.samples_most) {}

    SimDuration interval() const { return interval_; }
    void add(const StudySample& sample, std::vector<StudySample>& samples) {
        if (static_cast<std::int64_t>(samples.size()) >= most_) {
            std::size_t kept = 0;
            for (std::size_t i = 1; i < samples.size(); i += 2) samples[kept++] = samples[i];
            samples.resize(kept);
            interval_ = interval_ * 2;
        }
        samples.push_back(sample);
    }

private:
    SimDuration interval_;
    std::int64_t most_;
};

// Connections of flow f: f x queue pairs, and the following ones.
void connect_all(PacketEngine& engine, const std::vector<StudyFlow>& flows, std::int64_t queue_pairs) {
    const auto q = static_cast<std::uint32_t>(queue_pairs);
    for (const StudyFlow& flow : flows) {
        for (std::uint32_t pair = 0; pair < q; ++pair) {
            ConnectionRequest request;
            request.source = flow.source;
            request.destination = flow.destination;
            request.message = Bytes{(flow.message.value + q - 1 - pair) / q};  // the shares add up to the message
            request.messages = flow.messages;
            request.start = flow.start;
            request.granted = flow.granted;
            REHEARSE_CHECK(flow.grants.size() <= request.successors.size(), "a flow that grants more than two others");
            for (std::size_t i = 0; i < flow.grants.size(); ++i) request.successors[i] = flow.grants[i] * q + pair;
            if (flow.sibling != no_flow) request.sibling = flow.sibling * q + pair;
            request.queue_pair = pair;
            request.traffic_class = flow.traffic_class;
            engine.connect(request);
        }
    }
}

bool has_ended(const ConnectionResult& result) {
    return result.state == ConnectionState::done || result.state == ConnectionState::failed;
}

// Longer than any flow can be silent that has a packet on its way: all tries of a queue pair.
SimDuration silence_most(const TransportSpec& transport) {
    return SimDuration{(4'096'000ll << transport.timeout_exponent) * (transport.retries + 2)};
}

// Runs on until every connection has ended or nothing can end any more.
void run_until_ended(PacketEngine& engine, const TransportSpec& transport, std::size_t queue_pairs,
                     SimTime start_last, const StudyWatch& watch, FastForward* forward, StudyRecord& record) {
    Sampler sampler(watch);
    const std::size_t all = engine.results().size();
    SimTime now, moved_at = start_last;
    for (Tally tally; tally.closed < all;) {
        const SimTime next = engine.next_event_time();
        if (next == SimTime{INT64_MAX} || next - moved_at > silence_most(transport)) return;
        now = std::max(now, next) + sampler.interval();
        if (forward != nullptr) forward->run(now);
        else engine.run(now);
        const std::uint64_t moved = tally.sum.data;
        tally = engine.tally();
        if (tally.sum.data != moved) moved_at = now;
        const SimTime at = forward != nullptr ? forward->passed(now) : now;
        sampler.add({at, tally.closed / queue_pairs, tally.sum, tally.queue_longest}, record.samples);
        if (watch.progress) watch.progress(static_cast<double>(tally.closed) / static_cast<double>(all));
    }
}

// Class by class, since no class waits for another one's buffer. The routes are those before any fault.
std::string buffer_cycle_of(const FabricGraph& graph, const std::vector<StudyFlow>& flows, std::uint32_t queue_pairs) {
    std::map<std::uint8_t, std::vector<RoutedFlow>> classes;
    for (const StudyFlow& flow : flows) {
        for (std::uint32_t pair = 0; pair < queue_pairs; ++pair)
            classes[flow.traffic_class].push_back(
                {flow.source, graph.route({flow.source, flow.destination, pair})});
    }
    for (const auto& [traffic_class, routed] : classes) {
        const std::vector<std::uint32_t> cycle = find_buffer_cycle(graph, routed);
        if (!cycle.empty()) return describe_buffer_cycle(graph, cycle);
    }
    return "";
}

// So that runs whose flows end alike, or fail alike, are still told apart.
std::uint64_t digest(const std::vector<PortCounters>& links) {
    Fingerprint fingerprint;
    for (const PortCounters& link : links) {
        for (const auto count : counted) fingerprint.add(link.*count);
        fingerprint.add(static_cast<std::uint64_t>(link.paused));
    }
    return fingerprint.value();
}

FlowRecord record_of(const StudyFlow& flow, SimDuration idle, const ConnectionResult* results, std::size_t count) {
    FlowRecord record;
    record.start = flow.start;
    record.idle = idle;
    record.bytes = flow.message * flow.messages;
    for (std::size_t i = 0; i < count; ++i) {
        const ConnectionResult& result = results[i];
        record.finished = std::max(record.finished, result.finished);
        record.retransmissions += result.retransmissions;
        record.timeouts += result.timeouts;
        record.stalled = std::max(record.stalled, result.stalled);
        if (!has_ended(result)) record.end = FlowEnd::blocked;
        else if (result.state == ConnectionState::failed && record.end == FlowEnd::whole) record.end = FlowEnd::failed;
    }
    return record;
}

// A flow that waits for messages of one that failed can never end either: it fails with it.
void fail_together(const std::vector<StudyFlow>& flows, std::vector<FlowRecord>& records) {
    std::vector<std::uint32_t> failed;
    for (std::uint32_t f = 0; f < records.size(); ++f) {
        if (records[f].end == FlowEnd::failed) failed.push_back(f);
    }
    while (!failed.empty()) {
        const std::uint32_t flow = failed.back();
        failed.pop_back();
        for (const std::uint32_t granted : flows[flow].grants) {
            if (records[granted].end != FlowEnd::blocked) continue;
            records[granted].end = FlowEnd::failed;
            failed.push_back(granted);
        }
    }
}

}  // namespace

void PacketStudy::add(const FaultPlan& plan) {
    for (const PlannedFault& planned : plan.links) engine_.add_fault(planned.fault);
    for (const PauseStorm& storm : plan.storms) engine_.add_storm(storm);
    for (const PlannedFault& planned : plan.links) {
        const SimTime end = planned.fault.end;
        last_change_ = std::max({last_change_, planned.fault.begin, end == SimTime{INT64_MAX} ? SimTime{} : end});
    }
    for (const PauseStorm& storm : plan.storms) last_change_ = std::max(last_change_, storm.end);
}

StudyRecord PacketStudy::run(const std::vector<StudyFlow>& flows, const std::vector<SimDuration>& idle,
                             const StudyWatch& watch) {
    const auto queue_pairs = static_cast<std::size_t>(network_.ecmp.queue_pairs);
    connect_all(engine_, flows, network_.ecmp.queue_pairs);
    StudyRecord record;
    SimTime start_last;
    for (const StudyFlow& flow : flows) start_last = std::max(start_last, flow.start);
    record.buffer_cycle = buffer_cycle_of(graph_, flows, static_cast<std::uint32_t>(queue_pairs));
    std::optional<FastForward> forward;
    if (is_on(watch.fast_forward)) forward.emplace(engine_, std::max(start_last, last_change_));
    run_until_ended(engine_, spec_.transport, queue_pairs, start_last, watch, forward ? &*forward : nullptr, record);
    engine_.gather();
    for (std::size_t f = 0; f < flows.size(); ++f) {
        record.flows.push_back(record_of(flows[f], idle[f], &engine_.results()[f * queue_pairs], queue_pairs));
        if (forward) record.flows.back().finished = forward->passed(record.flows.back().finished);
        record.end = std::max(record.end, record.flows.back().finished);
    }
    fail_together(flows, record.flows);
    record.links.resize(graph_.cluster().links().size());
    for (std::uint32_t p = 0; p < graph_.port_count(); ++p)
        record.links[graph_.port(p).link.value] = engine_.counters()[p];
    record.events = engine_.events();
    if (forward) record.forward = {forward->skips(), record.events, forward->events_left_out(), record.end};
    record.fingerprint = engine_.fingerprint() ^ digest(record.links);
    return record;
}

bool leaves_by_own_nic(const Cluster& cluster, const Router& router, const StudyFlow& flow) {
    const Path path = router.route({flow.source, flow.destination, 0});
    VertexId first, last;
    for (const LinkId id : path.links()) {
        const Link& link = cluster.link(id);
        if (link.tier < LinkTier::host) continue;
        if (!first.valid()) first = link.from;
        last = link.to;
    }
    return first.valid() && first == cluster.nic_vertex(flow.source) && last == cluster.nic_vertex(flow.destination);
}

}  // namespace rehearse

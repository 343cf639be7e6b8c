#include <algorithm>

#include "models/network/flow/flow_network.hpp"
#include "models/network/framing.hpp"
#include "models/network/make_network_model.hpp"
#include "models/network/study/idle_time.hpp"
#include "models/network/study/study.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

struct FluidRun {
    std::vector<SimTime> drained;  // per flow
    std::vector<double> bytes;     // per LinkId
    std::uint64_t events = 0;
};

// A transfer stands for the flows [first, first + count): one flow, or all of a ring.
struct Transfer {
    std::uint32_t first, count;
};

std::vector<Transfer> transfers_of(const std::vector<StudyFlow>& flows) {
    std::vector<Transfer> transfers;
    for (std::uint32_t i = 0; i < flows.size();) {
        std::uint32_t end = i + 1;
        while (flows[i].ring != 0 && end < flows.size() && flows[end].ring == flows[i].ring) ++end;
        transfers.push_back({i, end - i});
        i = end;
    }
    return transfers;
}

void start(NetworkModel& model, const Transfer& transfer, const std::vector<StudyFlow>& flows, std::uint64_t token) {
    const StudyFlow& flow = flows[transfer.first];
    TransferRequest request;
    std::vector<GpuId> gpus{flow.source, flow.destination};
    if (flow.ring != 0) {
        request.pattern = TransferPattern::ring;
        request.steps = static_cast<std::uint32_t>(flow.messages);
        gpus.clear();
        for (std::uint32_t i = 0; i < transfer.count; ++i) gpus.push_back(flows[transfer.first + i].source);
    }
    request.gpus = gpus;
    request.size = flow.message * flow.messages;
    request.token = token;
    model.start(flow.start, request);
}

FluidRun run_model(NetworkModel& model, const std::vector<StudyFlow>& flows) {
    const std::vector<Transfer> transfers = transfers_of(flows);
    for (std::size_t t = 0; t < transfers.size(); ++t) start(model, transfers[t], flows, t);
    std::vector<Completion> done;
    model.advance(SimTime{INT64_MAX - 1}, done);
    FluidRun run;
    run.drained.resize(flows.size());
    for (const Completion& completion : done) {
        const Transfer& transfer = transfers[completion.token];
        std::fill_n(run.drained.begin() + transfer.first, transfer.count, completion.at);
    }
    run.bytes = model.traffic().bytes;
    run.events = model.events();
    return run;
}

// How many messages of the flow wait for the one before.
std::int64_t laps(const StudyFlow& flow) { return flow.ring != 0 ? flow.messages : 1; }

// Every flow on all of its shortest paths.
FluidRun run_sprayed(const Cluster& cluster, const Router& router, const NetworkSpec& network,
                     const std::vector<StudyFlow>& flows, const IdleTimes& times) {
    std::vector<double> capacities;
    for (const Link& link : cluster.links()) capacities.push_back(link.rate.bytes_per_second());
    FlowNetwork fluid(capacities, network.coalesce);
    FluidRun run;
    run.drained.resize(flows.size());
    run.bytes.resize(capacities.size());
    for (std::size_t f = 0; f < flows.size(); ++f) {
        const StudyFlow& flow = flows[f];
        const auto payload = static_cast<double>(flow.message.value * flow.messages);
        const auto wire = static_cast<double>(wire_bytes(network.framing, flow.message, network.mtu).value);
        const double ratio = flow.message > Bytes{0} ? wire / static_cast<double>(flow.message.value) : 1;
        std::vector<WeightedLink> links = sprayed_links(router, flow);
        for (WeightedLink& use : links) {
            if (cluster.link(use.link).tier >= LinkTier::host) use.weight *= ratio;
            run.bytes[use.link.value] += use.weight * payload;
        }
        fluid.start(flow.start + times.path(flow).latency * laps(flow), payload, {links}, {.token = f});
    }
    std::vector<FlowNetwork::Ended> ended;
    fluid.advance(SimTime{INT64_MAX - 1}, ended);
    for (const FlowNetwork::Ended& end : ended) run.drained[end.token] = end.at;
    run.events = fluid.events();
    return run;
}

}  // namespace

std::vector<WeightedLink> sprayed_links(const Router& router, const StudyFlow& flow) {
    struct Share {
        VertexId at;
        double weight;
    };
    const Cluster& cluster = router.cluster();
    const VertexId end = cluster.gpu_vertex(flow.destination);
    std::vector<WeightedLink> links;
    std::vector<Share> level{{cluster.gpu_vertex(flow.source), 1.0}}, next;
    while (!level.empty()) {  // all vertices of a level are equally far from the destination
        next.clear();
        for (const Share& share : level) {
            if (share.at == end) continue;
            const auto group = router.next_hops(share.at, flow.destination);
            const double weight = share.weight / static_cast<double>(group.size());
            for (const LinkId link : group) {
                links.push_back({link, weight});
                next.push_back({cluster.link(link).to, weight});
            }
        }
        std::sort(next.begin(), next.end(), [](const Share& a, const Share& b) { return a.at < b.at; });
        level.clear();
        for (const Share& share : next) {
            if (!level.empty() && level.back().at == share.at) level.back().weight += share.weight;
            else level.push_back(share);
        }
    }
    return links;
}

// What a fluid knows nothing of: packets are stored and forwarded, once per message in a row of them that wait for each
// other; the last ACK travels back.
StudyRecord run_fluid(const Cluster& cluster, const Router& router, const NetworkSpec& network, PathChoice paths,
                      const std::vector<StudyFlow>& flows, const std::vector<SimDuration>& idle) {
    const IdleTimes times(cluster, router, network, Switch::off);
    const bool sprayed = paths == PathChoice::spray && network.fidelity == Fidelity::flow;
    const FluidRun run = sprayed ? run_sprayed(cluster, router, network, flows, times)
                                 : run_model(*make_network_model(network, cluster, router), flows);
    StudyRecord record;
    Fingerprint fingerprint;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        const IdlePath path = times.path(flows[f]);
        FlowRecord& flow = record.flows.emplace_back();
        flow.start = flows[f].start;
        flow.finished = run.drained[f] + path.store_and_forward * laps(flows[f]) + path.ack_return;
        flow.idle = idle[f];
        flow.bytes = flows[f].message * flows[f].messages;
        record.end = std::max(record.end, flow.finished);
        fingerprint.add(flow.finished.value);
    }
    for (const double bytes : run.bytes)
        record.links.emplace_back().bytes = static_cast<std::uint64_t>(bytes + 0.5);
    record.events = run.events;
    record.fingerprint = fingerprint.value();
    return record;
}

}  // namespace rehearse

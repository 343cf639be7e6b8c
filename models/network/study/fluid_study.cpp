#include <algorithm>

#include "models/network/framing.hpp"
#include "models/network/make_network_model.hpp"
#include "models/network/study/idle_time.hpp"
#include "models/network/study/study.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

namespace {

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

// What a fluid knows nothing of: packets are stored and forwarded, once per message in a row of them that wait for each
// other; the last ACK travels back.
SimDuration packet_share(const IdleTimes& times, const StudyFlow& flow) {
    const IdlePath path = times.path(flow);
    return path.store_and_forward * (flow.ring != 0 ? flow.messages : 1) + path.ack_return;
}

}  // namespace

StudyRecord run_fluid(const Cluster& cluster, const Router& router, const NetworkSpec& network,
                      const std::vector<StudyFlow>& flows, const std::vector<SimDuration>& idle) {
    const auto model = make_network_model(network, cluster, router);
    const IdleTimes times(cluster, router, network, Switch::off);
    const std::vector<Transfer> transfers = transfers_of(flows);
    for (std::size_t t = 0; t < transfers.size(); ++t) start(*model, transfers[t], flows, t);
    std::vector<Completion> done;
    model->advance(SimTime{INT64_MAX - 1}, done);
    StudyRecord record;
    record.flows.resize(flows.size());
    Fingerprint fingerprint;
    for (const Completion& completion : done) {
        const Transfer& transfer = transfers[completion.token];
        for (std::uint32_t i = transfer.first; i < transfer.first + transfer.count; ++i) {
            FlowRecord& flow = record.flows[i];
            flow.start = flows[i].start;
            flow.finished = completion.at + packet_share(times, flows[i]);
            flow.idle = idle[i];
            flow.bytes = flows[i].message * flows[i].messages;
            record.end = std::max(record.end, flow.finished);
            fingerprint.add(flow.finished.value);
            fingerprint.add(std::uint64_t{i});
        }
    }
    for (const double bytes : model->traffic().bytes)
        record.links.emplace_back().bytes = static_cast<std::uint64_t>(bytes + 0.5);
    record.events = model->events();
    record.fingerprint = fingerprint.value();
    return record;
}

}  // namespace rehearse

#include <algorithm>

#include "models/network/flow/flow_model.hpp"
#include "models/network/make_network_model.hpp"
#include "models/network/study/fluid_run.hpp"
#include "models/network/study/study.hpp"
#include "sim/base/fingerprint.hpp"

namespace rehearse {

StudyRecord run_fluid(const Cluster& cluster, const Router& router, const NetworkSpec& network, PathChoice paths,
                      const std::vector<StudyFlow>& flows, const std::vector<SimDuration>& idle) {
    const bool sprayed = paths == PathChoice::spray && network.fidelity == Fidelity::flow;
    const std::unique_ptr<NetworkModel> model = sprayed
                                                    ? std::make_unique<FlowModel>(cluster, router, network, paths)
                                                    : make_network_model(network, cluster, router);
    FluidRun run(*model, flows, IdleTimes(cluster, router, network, Switch::off));
    run.run();
    StudyRecord record;
    Fingerprint fingerprint;
    for (std::size_t f = 0; f < flows.size(); ++f) {
        FlowRecord& flow = record.flows.emplace_back();
        flow.start = flows[f].start;
        flow.finished = run.finished(f);
        flow.idle = idle[f];
        flow.bytes = flows[f].message * flows[f].messages;
        record.end = std::max(record.end, flow.finished);
        fingerprint.add(flow.finished.value);
    }
    for (const double bytes : model->traffic().bytes)
        record.links.emplace_back().bytes = static_cast<std::uint64_t>(bytes + 0.5);
    record.events = model->events();
    record.fingerprint = fingerprint.value();
    return record;
}

}  // namespace rehearse

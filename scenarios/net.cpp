#include "scenarios/net.hpp"

#include <fmt/format.h>

#include <chrono>

#include "models/network/study/idle_time.hpp"
#include "scenarios/check_parts.hpp"
#include "scenarios/net_results.hpp"
#include "scenarios/read_scenario.hpp"
#include "sim/base/units_text.hpp"
#include "sim/trace/progress.hpp"

namespace rehearse {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// Packets need a way from NIC to NIC; one fault is enough of a pattern that has none.
void check_ways(const ValidNetScenario& scenario, const Cluster& cluster, const Router& router,
                const std::vector<StudyFlow>& flows) {
    Findings findings(scenario.plain().written);
    for (const StudyFlow& flow : flows) {
        if (leaves_by_own_nic(cluster, router, flow)) continue;
        findings.fault("net",
                       fmt::format("no packet goes from NIC to NIC between {} and {}",
                                   cluster.vertex_name(cluster.gpu_vertex(flow.source)),
                                   cluster.vertex_name(cluster.gpu_vertex(flow.destination))),
                       "at packet fidelity, GPUs of different nodes and of one rail in a rail-only fabric",
                       "set net.stride to cluster.node.gpus, or cluster.node.gpus to 1");
        break;
    }
    findings.throw_if_any();
}

StudyRecord study(const ValidNetScenario& scenario, const Cluster& cluster, const Router& router,
                  const std::vector<StudyFlow>& flows) {
    const NetworkSpec& network = scenario.network();
    const bool packets = network.fidelity == Fidelity::packet;
    const Switch pad_last = packets ? scenario.packet().transport.pad_last : Switch::off;
    if (!packets)
        return run_fluid(cluster, router, network, scenario.packet().transport.paths, flows,
                         IdleTimes(cluster, router, network, pad_last).completions(flows));
    check_ways(scenario, cluster, router, flows);
    const FabricGraph graph = located(scenario.plain().written, [&] { return FabricGraph(cluster, router); });
    PacketStudy study(graph, network, scenario.packet(), scenario.seed());
    check_buffers(scenario.packet(), study.buffer_limits(), scenario.plain().written);
    Progress progress(stderr, ProgressMode::terminal_only);
    StudyWatch watch;
    watch.interval = scenario.net().sample_interval;
    watch.samples_most = scenario.net().sample_count;
    watch.progress = [&](double share) { progress.update(share, "flows ended"); };
    return study.run(flows, IdleTimes(cluster, router, network, pad_last).completions(flows), watch);
}

void diagnose(const NetOutcome& outcome) {
    std::size_t shown = 0;
    for (std::size_t f = 0; f < outcome.record.flows.size() && shown < 5; ++f) {
        if (outcome.record.flows[f].end != FlowEnd::blocked) continue;
        const StudyFlow& flow = outcome.flows[f];
        fmt::print(stderr, "{} flow {}: {} -> {}\n", shown++ == 0 ? "rehearse: flows that can never end:" : "  and",
                   f, outcome.cluster.vertex_name(outcome.cluster.gpu_vertex(flow.source)),
                   outcome.cluster.vertex_name(outcome.cluster.gpu_vertex(flow.destination)));
    }
}

}  // namespace

void check_buffers(const PacketSpec& packet, const SharedBuffer::Limits& limits, const ConfigNode& written) {
    if (!limits.is_bounded || !limits.is_lossless) return;
    Findings findings(written);
    const double lone = limits.alpha / (1 + limits.alpha) * static_cast<double>(limits.shared);
    const Bytes xoff{static_cast<std::int64_t>(lone) + limits.reserve};
    if (limits.shared <= 0)
        findings.fault("models.network.packet.pfc.headroom", "headroom and reserve of all ports fill the buffer",
                       fmt::format("together less than {} a slice", format(Bytes{packet.buffer.pool.value /
                                                                                  packet.buffer.slices})),
                       "lower headroom, reserve or classes, or raise buffer.pool");
    else if (is_on(packet.ecn.enabled) && packet.ecn.mark_max >= xoff)
        findings.fault("models.network.packet.ecn.mark_max",
                       fmt::format("PFC pauses a lone queue at {}, before marking ends at {}", format(xoff),
                                   format(packet.ecn.mark_max)),
                       "mark_min < mark_max < XOFF", "lower mark_max, or raise buffer.alpha");
    findings.throw_if_any();
}

bool net(const NetRequest& request) {
    const Clock::time_point began = Clock::now();
    const ValidNetScenario scenario = validate(read_net_scenario(request.path, request.overrides));
    std::optional<ResultFolder> folder;
    if (request.out) folder.emplace(*request.out);

    const Cluster cluster = build_cluster(scenario.cluster());
    const Router router(cluster, scenario.network().ecmp, scenario.seed());
    const std::vector<StudyFlow> flows = flows_of(scenario.net().patterns);
    const StudyRecord record = study(scenario, cluster, router, flows);
    const NetOutcome outcome{scenario, cluster, flows, record, figures_of(record, cluster), seconds_since(began)};

    if (!folder) folder.emplace(default_folder(outcome));
    write_results(*folder, outcome);
    if (!is_on(request.quiet)) fmt::print("{}", summary(outcome));
    fmt::print("results: {}\n", folder->final_path().string());
    diagnose(outcome);
    return outcome.figures.blocked == 0;
}

}  // namespace rehearse

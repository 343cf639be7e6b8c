#include "scenarios/net/net.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "models/network/study/idle_time.hpp"
#include "scenarios/net/net_results.hpp"
#include "scenarios/net/net_sweep.hpp"
#include "scenarios/output_folder.hpp"
#include "scenarios/reading/check_parts.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/results.hpp"
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

StudyRecord study_packets(const ValidNetScenario& scenario, const Cluster& cluster, const Router& router,
                          const FaultPlan& plan, const std::vector<StudyFlow>& flows, const Crew& crew,
                          Switch fast_forward) {
    const NetworkSpec& network = scenario.network();
    check_ways(scenario, cluster, router, flows);
    if (is_on(fast_forward) && crew.processes != nullptr)
        throw InputError({Fault{{}, "net.fast_forward", "no process sees the progress of all connections",
                                "off with --mpi", "use --threads, or switch it off"}});
    const auto& written = scenario.plain().written;
    const FabricGraph graph = located(written, [&] { return FabricGraph(cluster, router); });
    const auto study = located(written, [&] {
        return std::make_unique<PacketStudy>(graph, network, scenario.packet(), scenario.seed(), crew);
    });
    for (const std::string& warning : check_buffers(scenario.packet(), study->buffer_limits(), written))
        if (is_first(crew)) fmt::print(stderr, "{}\n", warning);
    study->add(plan);
    Progress progress(stderr, ProgressMode::terminal_only);
    StudyWatch watch;
    watch.interval = scenario.net().sample_interval;
    watch.samples_most = scenario.net().sample_count;
    watch.fast_forward = fast_forward;
    if (is_first(crew)) watch.progress = [&](double share) { progress.update(share, "flows ended"); };
    const Switch pad_last = scenario.packet().transport.pad_last;
    return study->run(flows, IdleTimes(cluster, router, network, pad_last).completions(flows), watch);
}

StudyRecord study_fluid(const ValidNetScenario& scenario, const Cluster& cluster, const Router& router,
                        const std::vector<StudyFlow>& flows) {
    return run_fluid(cluster, router, scenario.network(), scenario.packet().transport.paths, flows,
                     IdleTimes(cluster, router, scenario.network(), Switch::off).completions(flows));
}

void diagnose(const StudyRecord& record, const std::vector<StudyFlow>& flows, const Cluster& cluster) {
    std::size_t shown = 0;
    for (std::size_t f = 0; f < record.flows.size() && shown < 5; ++f) {
        if (record.flows[f].end != FlowEnd::blocked) continue;
        fmt::print(stderr, "{} flow {}: {} -> {}\n", shown++ == 0 ? "rehearse: flows that can never end:" : "  and",
                   f, cluster.vertex_name(cluster.gpu_vertex(flows[f].source)),
                   cluster.vertex_name(cluster.gpu_vertex(flows[f].destination)));
    }
}

// Of the whole flows, pattern by pattern: flows_of() puts those of one behind those of the other.
std::vector<Spread> fct_of_patterns(const std::vector<PatternSpec>& patterns, const StudyRecord& record) {
    std::vector<Spread> spreads;
    auto flow = record.flows.begin();
    for (const PatternSpec& pattern : patterns) {
        std::vector<double> times;
        for (std::size_t left = flows_of({&pattern, 1}).size(); left > 0; --left, ++flow) {
            if (flow->end == FlowEnd::whole) times.push_back((flow->finished - flow->start).seconds() * 1e6);
        }
        spreads.push_back(spread_of(std::move(times)));
    }
    return spreads;
}

}  // namespace

Crew crew_of(const NetRequest& request) {
    return {.threads = static_cast<std::uint32_t>(request.threads), .processes = request.processes};
}

bool is_first(const Crew& crew) { return crew.processes == nullptr || crew.processes->rank() == 0; }

NetOutcome study(const ValidNetScenario& scenario, const Crew& crew) {
    const Clock::time_point began = Clock::now();
    Cluster cluster = build_cluster(scenario.cluster());
    const Router router(cluster, scenario.network().ecmp, scenario.seed());
    std::vector<StudyFlow> flows = flows_of(scenario.net().patterns);
    FaultPlan plan;
    StudyRecord record;
    if (scenario.network().fidelity == Fidelity::packet) {
        plan = located(scenario.plain().written,
                       [&] { return plan_faults(cluster, scenario.network(), scenario.packet()); });
        const FastForwardMode mode = scenario.net().fast_forward;
        const Switch skips = mode == FastForwardMode::on ? Switch::on : Switch::off;
        record = study_packets(scenario, cluster, router, plan, flows, crew, skips);
        if (mode == FastForwardMode::check)
            record.forward = study_packets(scenario, cluster, router, plan, flows, crew, Switch::on).forward;
    } else {
        record = study_fluid(scenario, cluster, router, flows);
    }
    StudyFigures figures = figures_of(record, cluster);
    std::vector<Spread> patterns = fct_of_patterns(scenario.net().patterns, record);
    if (is_first(crew)) diagnose(record, flows, cluster);
    return {scenario,          std::move(cluster), std::move(flows),    std::move(plan),
            std::move(record), std::move(figures), std::move(patterns), seconds_since(began)};
}

bool net(const NetRequest& request) {
    const NetScenario asked = read_net_scenario(request.path, request.overrides);
    if (!asked.sweep.empty()) return net_sweep(request, asked);
    const ValidNetScenario scenario = validate(asked);
    const Crew crew = crew_of(request);
    if (is_first(crew)) print_warnings(scenario);
    std::optional<OutputFolder> output;
    if (request.out && is_first(crew)) output.emplace(*request.out);
    const NetOutcome outcome = study(scenario, crew);
    if (!is_first(crew)) return outcome.figures.blocked == 0;
    if (!output)
        output.emplace(default_folder(scenario.name(), fmt::format("{:016x}", outcome.record.fingerprint)));
    ResultFolder& folder = output->folder;
    write_files(folder, "", outcome);
    folder.publish();
    if (!is_on(request.quiet)) fmt::print("{}", summary(outcome));
    fmt::print("results: {}\n", folder.final_path().string());
    return outcome.figures.blocked == 0;
}

void print_warnings(const ValidNetScenario& scenario) {
    for (const std::string& warning : scenario.warnings()) fmt::print(stderr, "{}\n", warning);
}

}  // namespace rehearse

// Speed of the flow-level network.
//
//   flow_bench                 Google Benchmark: every case, CPU time ("solves" without set-up, "whole" with it)
//   flow_bench --small         small sizes, prints a hash per case (run by the tests)
//   flow_bench --compare[=all] the same flows in SimGrid in one run, CPU times side by side; skipped without SimGrid
//
// The fat trees, permutations and all-to-alls are those of fat_tree_flows.hpp.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "tests/bench/fat_tree_flows.hpp"
#include "tests/bench/pipeline_wave.hpp"

namespace rehearse::bench {
namespace {

constexpr FatTree tree_1024{8, 16};
constexpr FatTree tree_12288{32, 12};

struct Case {
    const char* name;
    FatTree tree;
    const char* kind;       // of the peer's command line: perm or a2a
    std::uint32_t members;  // all-to-all
    double bytes;
    bool is_jittered;
    bool is_quick;  // the peer takes less than a minute
};

const Case cases[] = {
    {"perm_1024", tree_1024, "perm", 0, 1e9, false, true},
    {"perm_1024_jitter", tree_1024, "perm", 0, 1e9, true, true},
    {"perm_12288", tree_12288, "perm", 0, 1e9, false, true},
    {"perm_12288_jitter", tree_12288, "perm", 0, 1e9, true, true},
    {"a2a_64", tree_1024, "a2a", 64, 1e6, false, true},
    {"a2a_64_jitter", tree_1024, "a2a", 64, 1e6, true, true},
    {"a2a_128", tree_1024, "a2a", 128, 1e6, false, true},
    {"a2a_256", tree_1024, "a2a", 256, 1e6, false, false},
    {"a2a_512", tree_1024, "a2a", 512, 1e6, false, false},
};

std::vector<HostFlow> flows_of(const Case& test) {
    std::vector<HostFlow> flows = test.members == 0 ? permutation(test.tree.hosts(), test.bytes, 1)
                                                    : all_to_all(test.tree.hosts(), test.members, test.bytes);
    return test.is_jittered ? jittered(std::move(flows)) : flows;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::uint64_t hash_of(const std::vector<std::int64_t>& times) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const std::int64_t time : times) hash = (hash ^ static_cast<std::uint64_t>(time)) * 0x100000001B3ULL;
    return hash;
}

// Set-up: the flows, the network, all starts. Solves: the rest.
void run_case(benchmark::State& state, const Case& test, bool with_setup) {
    FlowTimes times{};
    double solves = 0, changes = 0;
    for (auto _ : state) {
        const double begin = cpu_seconds();
        const std::vector<HostFlow> flows = flows_of(test);
        const std::vector<double> capacities(test.tree.link_count(), link_rate);
        FlowNetwork network(capacities);
        start_flows(network, test.tree, flows);
        const double middle = cpu_seconds();
        times = summarise(finish_flows(network, flows.size()));
        state.SetIterationTime(cpu_seconds() - (with_setup ? begin : middle));
        solves = static_cast<double>(network.solves());
        changes = static_cast<double>(network.events());
    }
    state.counters["solves"] = solves;
    state.counters["changes"] = changes;
    state.counters["fct_mean_us"] = times.mean * 1e6;
    state.counters["fct_max_us"] = times.max * 1e6;
}

ClusterSpec cluster_of(std::int64_t hosts) {
    ClusterSpec spec;
    spec.hosts = hosts;
    return spec;
}

void run_wave(benchmark::State& state, SimDuration jitter, SimDuration coalesce) {
    const Cluster cluster = build_cluster(cluster_of(1536));
    const Router router(cluster, EcmpSpec{}, 1);
    NetworkSpec spec;
    spec.coalesce = coalesce;
    WaveResult result;
    for (auto _ : state) {
        FlowModel model(cluster, router, spec);
        const SimTime warm = run_waves(model, cluster.gpu_count(), 1, jitter).end;  // finds the routes
        const double begin = cpu_seconds();
        result = run_waves(model, cluster.gpu_count(), 10, jitter, warm);
        state.SetIterationTime(cpu_seconds() - begin);
    }
    state.counters["us_per_flow"] =
        benchmark::Counter(1e-6 * static_cast<double>(result.flows),
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.counters["fct_mean_us"] = result.fct_mean * 1e6;
}

void register_all() {
    for (const Case& test : cases) {
        for (const bool with_setup : {false, true}) {
            const std::string label = std::string(test.name) + (with_setup ? "/whole" : "/solves");
            benchmark::RegisterBenchmark(label.c_str(), run_case, test, with_setup)
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
    for (const std::int64_t window : {0, 1, 5}) {
        for (const std::int64_t jitter : {0, 10, 100, 1000}) {
            const std::string label =
                "pipeline_wave/jitter_us:" + std::to_string(jitter) + "/coalesce_us:" + std::to_string(window);
            benchmark::RegisterBenchmark(label.c_str(), run_wave, microseconds(jitter), microseconds(window))
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
}

int run_small() {
    const Case small[] = {{"perm_128", {4, 8}, "perm", 0, 1e9, false, true},
                          {"perm_128_jitter", {4, 8}, "perm", 0, 1e9, true, true},
                          {"a2a_32", {4, 8}, "a2a", 32, 1e6, false, true},
                          {"a2a_32_jitter", {4, 8}, "a2a", 32, 1e6, true, true}};
    for (const Case& test : small) {
        const std::vector<double> capacities(test.tree.link_count(), link_rate);
        FlowNetwork network(capacities);
        const std::uint64_t hash = hash_of(run_flows(network, test.tree, flows_of(test)));
        std::printf("%-18s %016llx\n", test.name, static_cast<unsigned long long>(hash));
    }
    const Cluster cluster = build_cluster(cluster_of(64));
    const Router router(cluster, EcmpSpec{}, 1);
    FlowModel model(cluster, router, NetworkSpec{});
    const WaveResult wave = run_waves(model, cluster.gpu_count(), 2, microseconds(100));
    std::printf("%-18s %016llx\n", "pipeline_wave", static_cast<unsigned long long>(wave.hash));
    return 0;
}

#ifdef REHEARSE_SIMGRID_PEER
struct PeerTimes {
    double build = 0, run = 0, end = 0, fct_mean = 0;
};

// simgrid_peer prints one line: build, run (CPU seconds), simulated end and mean completion time (s).
bool run_peer(const Case& test, PeerTimes& times) {
    const std::string command = std::string(REHEARSE_SIMGRID_PEER) + " " + test.kind + " " +
                                std::to_string(test.tree.half) + " " + std::to_string(test.tree.pods) + " " +
                                std::to_string(test.bytes) + " " + std::to_string(test.members) + " " +
                                (test.is_jittered ? "1" : "0") + " 2>/dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return false;
    const int fields = std::fscanf(pipe, "%lf %lf %lf %lf", &times.build, &times.run, &times.end, &times.fct_mean);
    return pclose(pipe) == 0 && fields == 4;
}

// SimGrid weighs shares by 1 / path latency, so its times differ a little from plain max-min.
int run_compare(bool all) {
    std::printf("CPU seconds      %10s %10s %10s %8s %14s %14s\n", "own whole", "own solves", "SimGrid", "ratio",
                "own end s", "SimGrid end s");
    for (const Case& test : cases) {
        if (!all && !test.is_quick) continue;
        PeerTimes peer;
        if (!run_peer(test, peer)) {
            std::printf("%-16s skipped: simgrid_peer failed\n", test.name);
            continue;
        }
        const double begin = cpu_seconds();
        const std::vector<HostFlow> flows = flows_of(test);
        const std::vector<double> capacities(test.tree.link_count(), link_rate);
        FlowNetwork network(capacities);
        start_flows(network, test.tree, flows);
        const double middle = cpu_seconds();
        const FlowTimes times = summarise(finish_flows(network, flows.size()));
        const double end = cpu_seconds();
        std::printf("%-16s %10.4f %10.4f %10.4f %8.1f %14.9f %14.9f\n", test.name, end - begin, end - middle, peer.run,
                    peer.run / (end - middle), times.max, peer.end);
        std::fflush(stdout);
    }
    return 0;
}
#else
int run_compare(bool) {
    std::puts("comparison skipped: SimGrid was not found when this was built (Debian: libsimgrid-dev)");
    return 0;
}
#endif

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--small") == 0) return rehearse::bench::run_small();
        if (std::strcmp(argv[i], "--compare") == 0) return rehearse::bench::run_compare(false);
        if (std::strcmp(argv[i], "--compare=all") == 0) return rehearse::bench::run_compare(true);
    }
    rehearse::bench::register_all();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

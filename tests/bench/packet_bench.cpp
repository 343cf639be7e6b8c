// Speed of the packet-level fabric on the permutations that packet simulators are compared on: k-ary fat trees with
// links of 400 Gbps and 500 ns, 2,000,000 bytes from each host, 4,096 + 64 bytes a packet, an ACK for each, PFC.
//
//   packet_bench           Google Benchmark: 128, 1,024 and 8,192 hosts; hops_per_second counts both directions
//   packet_bench --small   128 hosts, prints the result hash (run by the tests)
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "models/network/packet/engine.hpp"
#include "models/network/traffic_matrix.hpp"
#include "tests/topology/fabrics.hpp"

namespace rehearse::bench {
namespace {

struct Run {
    std::uint64_t data_hops = 0, control_hops = 0, fingerprint = 0, events = 0;
    double end_us = 0, mean_us = 0;
    std::uint64_t pauses = 0, drops = 0, retransmissions = 0;
};

NetworkSpec network() {
    NetworkSpec spec;
    spec.framing = Framing::fixed_64;
    return spec;
}

Run permute(std::uint32_t k) {
    const Cluster cluster = build_cluster(testing::fat_tree_with_ecmp(k));
    const Router router(cluster, {.hash = HashFunction::jenkins}, 1);
    const FabricGraph graph(cluster, router);
    const NetworkSpec spec = network();
    PacketSpec packets;
    packets.transport.pad_last = Switch::on;
    PacketEngine engine(graph, spec, packets, 1);
    const std::vector<std::uint32_t> to = permutation(cluster.gpu_count(), 1);
    for (std::uint32_t i = 0; i < to.size(); ++i) {
        engine.connect({.source = GpuId{i}, .destination = GpuId{to[i]}, .message = Bytes{2'000'000}, .start = {}});
    }
    engine.run(SimTime{INT64_MAX - 1});
    Run run;
    const PortCounters total = total_of(engine.counters());
    run.data_hops = total.data;
    run.control_hops = total.control;
    run.pauses = total.pauses;
    run.drops = total.drops;
    for (const ConnectionResult& result : engine.results()) {
        const double us = (result.finished - result.start).seconds() * 1e6;
        run.end_us = std::max(run.end_us, us);
        run.mean_us += us / static_cast<double>(to.size());
        run.retransmissions += result.retransmissions;
    }
    run.fingerprint = engine.fingerprint();
    run.events = engine.events();
    return run;
}

void print(std::uint32_t k, const Run& run) {
    std::printf(
        "permutation k=%u: data hops %llu, control hops %llu, events %llu, pauses %llu, drops %llu, again %llu, "
        "mean %.3f us, end %.3f us, hash %016llx\n",
        k, static_cast<unsigned long long>(run.data_hops), static_cast<unsigned long long>(run.control_hops),
        static_cast<unsigned long long>(run.events), static_cast<unsigned long long>(run.pauses),
        static_cast<unsigned long long>(run.drops), static_cast<unsigned long long>(run.retransmissions), run.mean_us,
        run.end_us, static_cast<unsigned long long>(run.fingerprint));
}

void fat_tree(benchmark::State& state) {
    Run run;
    for (auto _ : state) run = permute(static_cast<std::uint32_t>(state.range(0)));
    print(static_cast<std::uint32_t>(state.range(0)), run);
    state.counters["hops_per_second"] = benchmark::Counter(static_cast<double>(run.data_hops + run.control_hops),
                                                           benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(fat_tree)->Arg(8)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) {
        rehearse::bench::print(8, rehearse::bench::permute(8));
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

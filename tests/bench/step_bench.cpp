// Whole training steps: seconds per step and per (rank x micro-batch), ideal and flow fidelity, by number of GPUs.
// --small runs the smallest one once and prints its fingerprint.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>

#include "runtime/simulate.hpp"
#include "scenarios/installation.hpp"
#include "scenarios/job_traffic.hpp"
#include "scenarios/reading/read_scenario.hpp"
#include "scenarios/reading/validate_scenario.hpp"

namespace rehearse {
namespace {

Timeline run_step(const std::string& name, Fidelity fidelity) {
    const ValidScenario scenario = validate(read_scenario(data_path("scenarios/library/" + name + ".yaml").string()));
    const Cluster cluster = build_cluster(scenario.cluster());
    const Workload workload = build_workload(scenario.training());
    const Placement placement = place_job(scenario, workload, cluster, 1);
    NetworkSpec network = scenario.models().network;
    network.fidelity = fidelity;
    return simulate({cluster, placement, workload, scenario.models().profile, network, 1, {}});
}

void step(benchmark::State& state, const std::string& name, Fidelity fidelity, double rank_micro_batches) {
    std::uint64_t events = 0;
    for (auto _ : state) events = run_step(name, fidelity).events;
    state.counters["events"] = static_cast<double>(events);
    state.counters["ns_per_rank_micro_batch"] =
        benchmark::Counter(rank_micro_batches * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                                                          benchmark::Counter::kInvert);
}

}  // namespace

int run_benchmarks(int argc, char** argv) {
    using namespace rehearse;
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) {
        fmt::print("dense_8 fingerprint {:016x}\n", run_step("dense_8", Fidelity::flow).fingerprint);
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    struct Size {
        const char* name;
        double rank_micro_batches;
    };
    for (const Size& size : {Size{"megascale_175b_256", 256.0 * 192}, Size{"megascale_175b_3072", 3072.0 * 128},
                             Size{"megascale_175b_12288", 12288.0 * 32}}) {
        for (const Fidelity fidelity : {Fidelity::ideal, Fidelity::flow}) {
            const std::string label = fmt::format("{}/{}", size.name, fidelity == Fidelity::flow ? "flow" : "ideal");
            benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) {
                step(state, size.name, fidelity, size.rank_micro_batches);
            })->Unit(benchmark::kSecond)->Iterations(1);
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

}  // namespace rehearse

int main(int argc, char** argv) { return rehearse::run_benchmarks(argc, argv); }

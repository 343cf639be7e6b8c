// Collectives of the CPU communicators, among two threads, or among the processes that mpirun starts
// (mpirun -n 2 collectives_bench). Each prints its bus rate, as nccl-tests define it (collectives/collective.hpp), and
// `roof`: that rate over the rate at which one core copies as many bytes, of which a rank reads one half.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstdlib>
#include <functional>

#include "kernels/array.hpp"
#include "kernels/communicator/mpi_ranks.hpp"
#include "kernels/communicator/thread_ranks.hpp"
#include "sim/base/fingerprint.hpp"
#include "sim/base/quantile.hpp"
#include "tests/bench/machine_roof.hpp"

namespace rehearse::bench {
namespace {

using kernels::Array;
using RunRanks = std::function<void(const std::function<void(Communicator&)>&)>;

constexpr int warm_up = 5, repeats = 31;

// What each rank holds: `bytes` that it brings or gets, as nccl-tests count them.
struct Buffers {
    Buffers(std::size_t bytes, std::uint32_t ranks) : all(bytes / sizeof(float) / ranks * ranks, 1.0f), other(all) {}
    std::size_t slice(std::uint32_t ranks) const { return all.size() / ranks; }
    Array<float> all, other;
};

void all_to_all(Communicator& world, Buffers& b) {
    Communicator::Parts parts(world.size());
    Communicator::Rooms into(world.size());
    for (std::uint32_t peer = 0; peer < world.size(); ++peer) {
        const std::size_t slice = b.slice(world.size());
        parts[peer] = {std::as_bytes(std::span(b.all).subspan(peer * slice, slice))};
        into[peer] = {std::as_writable_bytes(std::span(b.other).subspan(peer * slice, slice))};
    }
    world.all_to_all(parts, into);
}

void all_gather(Communicator& world, Buffers& b) {
    world.all_gather(std::as_bytes(std::span(b.all).first(b.slice(world.size()))),
                     std::as_writable_bytes(std::span(b.other)));
}

void reduce_scatter(Communicator& world, Buffers& b) {
    world.reduce_scatter(b.all, std::span(b.other).first(b.slice(world.size())));
}

void all_reduce(Communicator& world, Buffers& b) { world.all_reduce(b.all); }

struct Collective {
    const char* name;
    void (*run)(Communicator&, Buffers&);
    double passes;  // bus bytes / ((n - 1) / n bytes)
};

constexpr Collective collectives[] = {{"all_to_all", all_to_all, 1},
                                      {"all_gather", all_gather, 1},
                                      {"reduce_scatter", reduce_scatter, 1},
                                      {"all_reduce", all_reduce, 2}};

// Median seconds from the arrival of the last member to that at the next meeting. The same number of calls on every
// rank, whatever its clock says.
double seconds_of(Communicator& world, const Collective& collective, Buffers& buffers) {
    std::vector<double> seconds;
    for (int i = 0; i < warm_up + repeats; ++i) {
        const auto begin = world.meet();
        collective.run(world, buffers);
        const auto end = world.meet();
        if (i >= warm_up) seconds.push_back(std::chrono::duration<double>(end - begin).count());
    }
    return median(std::move(seconds));
}

void add(const RunRanks& run_ranks, MachineRoof& roof, const Collective& collective, std::size_t bytes) {
    benchmark::RegisterBenchmark(
        fmt::format("{}/{}", collective.name, bytes).c_str(),
        [&run_ranks, &roof, collective, bytes](benchmark::State& state) {
            double seconds = 0, moved = 0;
            run_ranks([&](Communicator& world) {
                Buffers buffers(bytes, world.size());
                const double mine = seconds_of(world, collective, buffers);
                if (world.rank() != 0) return;
                seconds = mine;
                moved = collective.passes * static_cast<double>(bytes) * (world.size() - 1) / world.size();
            });
            for (auto _ : state) state.SetIterationTime(seconds > 0 ? seconds : 1);
            if (seconds == 0) return;  // the process of another rank
            state.counters["bus B/s"] = benchmark::Counter(moved / seconds, benchmark::Counter::kDefaults,
                                                           benchmark::Counter::kIs1000);
            state.counters["roof"] = moved / seconds / (roof.copy(2 * moved) / 2);
        })
        ->UseManualTime()
        ->Iterations(1);
}

int run_small(const RunRanks& run_ranks) {
    run_ranks([&](Communicator& world) {
        Fingerprint hash;
        for (const Collective& collective : collectives) {
            Buffers buffers(4096, world.size());
            collective.run(world, buffers);
            for (const float value : buffers.all) hash.add(static_cast<std::uint64_t>(value));
            for (const float value : buffers.other) hash.add(static_cast<std::uint64_t>(value));
        }
        if (world.rank() == 0) fmt::print("{:<20} {:016x}\n", "collectives", hash.value());
    });
    return 0;
}

int run_all(int argc, char** argv, const RunRanks& run_ranks) {
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) return run_small(run_ranks);
    MachineRoof roof;
    for (const Collective& collective : collectives) {
        for (const std::size_t bytes : {std::size_t{1} << 14, std::size_t{1} << 18, std::size_t{1} << 22,
                                        std::size_t{1} << 25})
            add(run_ranks, roof, collective, bytes);
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    using namespace rehearse;
    if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr || !MpiRanks::is_available())
        return bench::run_all(argc, argv, [](const auto& body) { run_thread_ranks(2, body); });
    MpiRanks processes;
    return bench::run_all(argc, argv, [&](const auto& body) { body(processes.communicator()); });
}

// The hold model: with N events pending, pop the least and push one later, again and again; one item is one pop and
// push. Increments: "net" mostly 82 ns (4 KiB at 400 Gbps), one in ten 0.5 to 3 us, one in 1,000 a 1 ms timer; "exp"
// exponential with mean 1 us. They are drawn beforehand, so that only the queue is timed.
//
//     event_queue_bench            100,000 pending, also 1,000 and 1,000,000
//     event_queue_bench --small    1,000 pending, few steps, and a hash of the order, equal for all queues
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "sim/base/fingerprint.hpp"
#include "sim/base/rng.hpp"
#include "sim/engine/binary_heap.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/ladder_queue.hpp"
#include "sim/engine/quad_heap.hpp"
#include "sim/engine/radix_heap.hpp"

namespace rehearse {
namespace {

enum class Load { net, exp };

constexpr std::size_t drawn = 1 << 16;  // increments, used round and round

std::vector<SimDuration> draw_increments(Load load) {
    const Stream stream(1, "event_queue_bench");
    std::vector<SimDuration> increments;
    for (std::size_t i = 0; i < drawn; ++i) {
        const double kind = stream.uniform(0, i);
        if (load == Load::exp)
            increments.push_back(SimDuration{detail::round_to_int64(stream.exponential(1, i) * 1e6)});
        else if (kind < 0.899) increments.push_back(picoseconds(81'920));
        else if (kind < 0.999)
            increments.push_back(nanoseconds(500) + nanoseconds(2'500) * Ratio{stream.uniform(1, i)});
        else increments.push_back(milliseconds(1));
    }
    return increments;
}

// Fills the queue to `pending` events spread over 1 us, so that no two start together more often than by chance.
template <class Queue>
void fill(Queue& queue, std::int64_t pending) {
    const Stream stream(2, "event_queue_bench");
    for (std::uint64_t id = 0; id < static_cast<std::uint64_t>(pending); ++id)
        queue.push(SimTime{detail::round_to_int64(stream.uniform(0, id) * 1e6)}, id);
}

template <class Queue, Load load>
void hold(benchmark::State& state) {
    const std::vector<SimDuration> increments = draw_increments(load);
    Queue queue;
    fill(queue, state.range(0));
    std::size_t step = 0;
    const auto one = [&] {
        const Event event = queue.pop();
        queue.push(event.time + increments[step++ % drawn], event.id);
    };
    for (std::int64_t i = 0; i < 5 * state.range(0); ++i) one();  // to the steady state
    for (auto _ : state) one();
    state.SetItemsProcessed(state.iterations());
}

template <class Queue>
std::uint64_t small_hash(Load load) {
    const std::vector<SimDuration> increments = draw_increments(load);
    Queue queue;
    fill(queue, 1'000);
    Fingerprint order;
    for (std::size_t step = 0; step < 20'000; ++step) {
        const Event event = queue.pop();
        order.add(event.time.value);
        order.add(event.id);
        queue.push(event.time + increments[step % drawn], event.id);
    }
    return order.value();
}

// 0 when all queues agree.
int run_small() {
    int disagree = 0;
    for (const Load load : {Load::net, Load::exp}) {
        const std::uint64_t expected = small_hash<BinaryHeap>(load);
        const auto check = [&](const char* name, std::uint64_t hash) {
            fmt::print("{} {} {:016x}\n", name, load == Load::net ? "net" : "exp", hash);
            disagree |= hash != expected;
        };
        check("binary_heap", expected);
        check("quad_heap", small_hash<QuadHeap>(load));
        check("radix_heap", small_hash<RadixHeap>(load));
        check("ladder_queue", small_hash<LadderQueue>(load));
    }
    return disagree;
}

template <class Queue>
void add(const std::string& name) {
    for (const std::int64_t pending : {1'000, 100'000, 1'000'000}) {
        benchmark::RegisterBenchmark((name + "/net").c_str(), hold<Queue, Load::net>)->Arg(pending);
        benchmark::RegisterBenchmark((name + "/exp").c_str(), hold<Queue, Load::exp>)->Arg(pending);
    }
}

}  // namespace
}  // namespace rehearse

int main(int argc, char** argv) {
    using namespace rehearse;
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) return run_small();
    add<BinaryHeap>("binary_heap");
    add<QuadHeap>("quad_heap");
    add<RadixHeap>("radix_heap");
    add<LadderQueue>("ladder_queue");
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

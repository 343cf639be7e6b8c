// How long the policies of runtime/ take to decide, at the sizes of a run with 2,048 experts on 1,440 GPUs.
//
//   policy_bench           Google Benchmark, CPU time of one decision (of one token or row where the name says so)
//   policy_bench --small   small sizes, prints a hash of the decisions (run by the tests)
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/balancer/load_balancer.hpp"
#include "runtime/comm_pipe/token_stream.hpp"
#include "runtime/gate_calibrator/gate_calibrator.hpp"
#include "runtime/gate_calibrator/top_k.hpp"
#include "runtime/pager/access_predictor.hpp"
#include "runtime/pager/page_manager.hpp"
#include "sim/base/fingerprint.hpp"
#include "sim/base/rng.hpp"

namespace rehearse::bench {
namespace {

struct Size {
    std::uint32_t experts, gpus;
    EplbShape shape(std::uint32_t slots_per_gpu) const { return {slots_per_gpu * gpus, 1, 1, gpus}; }
};
constexpr Size whole{2048, 1440}, small{64, 40};

const MigrationSpec expert_352b{Bytes{352'000'000}, Bytes{2'112'000'000}, Bandwidth{400'000'000'000},
                                SimDuration{5'000'000}};

// Tokens per expert, Zipf over a ranking that is another one for each seed.
std::vector<std::uint64_t> zipf_tokens(std::uint32_t experts, std::uint64_t seed) {
    std::vector<std::uint32_t> ranking(experts);
    std::iota(ranking.begin(), ranking.end(), 0U);
    for (std::uint32_t i = experts; i > 1; --i) std::swap(ranking[i - 1], ranking[splitmix64(seed) % i]);
    std::vector<std::uint64_t> tokens(experts);
    for (std::uint32_t e = 0; e < experts; ++e) tokens[e] = 1'000'000 / (ranking[e] + 1) + splitmix64(seed) % 50;
    return tokens;
}

std::vector<double> zipf_loads(std::uint32_t experts, std::uint64_t seed) {
    const std::vector<std::uint64_t> tokens = zipf_tokens(experts, seed);
    return {tokens.begin(), tokens.end()};
}

std::vector<float> drawn_floats(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(splitmix64(seed) >> 40) * 0x1p-24f;
    return values;
}

// Two loads that take turns, so that every step has something to decide.
struct Balancing {
    std::vector<std::uint64_t> tokens[2];
    LoadBalancer balancer;
    std::size_t step = 0;

    Balancing(const Size& size, const BalancerSpec& spec, std::uint32_t slots_per_gpu)
        : tokens{zipf_tokens(size.experts, 1), zipf_tokens(size.experts, 2)},
          balancer(spec, size.shape(slots_per_gpu), expert_352b,
                   balance_experts(std::vector<double>(size.experts, 1.0), size.shape(slots_per_gpu))) {}
    std::optional<BalanceDecision> decide() { return balancer.after_step(tokens[step++ % 2]); }
};
constexpr BalancerSpec slow{.period = 1, .window = 1, .top = 0};
constexpr BalancerSpec fast{.period = 0, .window = 1, .top = 20, .spare_slots = 1};

void run_balancer(benchmark::State& state, const BalancerSpec& spec, std::uint32_t slots_per_gpu) {
    Balancing balancing(whole, spec, slots_per_gpu);
    std::int64_t taken = 0, changes = 0;
    for (auto _ : state) {
        const auto decision = balancing.decide();
        if (!decision) continue;
        ++taken;
        changes += static_cast<std::int64_t>(decision->delta.changes.size());
    }
    state.counters["taken"] = static_cast<double>(taken) / static_cast<double>(state.iterations());
    state.counters["changes"] = static_cast<double>(changes) / static_cast<double>(state.iterations());
}

struct TwoMaps {
    ExpertMap from, to;
};
TwoMaps two_maps(const Size& size) {
    return {balance_experts(zipf_loads(size.experts, 1), size.shape(2), 0),
            balance_experts(zipf_loads(size.experts, 2), size.shape(2), 1)};
}

void balance_experts_case(benchmark::State& state) {
    const std::vector<double> loads = zipf_loads(whole.experts, 1);
    for (auto _ : state) benchmark::DoNotOptimize(balance_experts(loads, whole.shape(2)));
}

void difference_case(benchmark::State& state) {
    const TwoMaps maps = two_maps(whole);
    for (auto _ : state) benchmark::DoNotOptimize(difference(maps.from, maps.to));
}

void apply_case(benchmark::State& state) {
    const TwoMaps maps = two_maps(whole);
    const MapDelta delta = difference(maps.from, maps.to);
    for (auto _ : state) benchmark::DoNotOptimize(apply(maps.from, delta));
}

void migration_case(benchmark::State& state) {
    const TwoMaps maps = two_maps(whole);
    for (auto _ : state) benchmark::DoNotOptimize(plan_migration(maps.from, maps.to, expert_352b));
}

// Sixteen rings of all GPUs; two hops between nodes of eight, one inside.
struct RingChoice {
    std::vector<std::vector<std::uint32_t>> rings;
    std::vector<double> load;
    std::vector<std::vector<double>> hops;
};
RingChoice ring_choice(const Size& size) {
    RingChoice choice;
    std::uint64_t state = 1;
    for (std::uint32_t r = 0; r < 16; ++r) {
        std::vector<std::uint32_t>& ring = choice.rings.emplace_back(size.gpus);
        std::iota(ring.begin(), ring.end(), 0U);
        for (std::uint32_t i = size.gpus; r > 0 && i > 1; --i) std::swap(ring[i - 1], ring[splitmix64(state) % i]);
    }
    const std::vector<float> loads = drawn_floats(size.gpus, 2);
    choice.load.assign(loads.begin(), loads.end());
    choice.hops.assign(size.gpus, std::vector<double>(size.gpus, 2.0));
    for (std::uint32_t a = 0; a < size.gpus; ++a) {
        for (std::uint32_t b = a / 8 * 8; b < std::min(size.gpus, a / 8 * 8 + 8); ++b) choice.hops[a][b] = 1;
    }
    return choice;
}

void ring_case(benchmark::State& state) {
    const RingChoice choice = ring_choice(whole);
    for (auto _ : state) benchmark::DoNotOptimize(choose_ring(choice.rings, choice.load, choice.hops));
}

void calibrator_case(benchmark::State& state) {
    GateCalibrator calibrator(whole.experts);
    const std::vector<double> mass = zipf_loads(whole.experts, 1);
    for (auto _ : state) {
        calibrator.update(mass, 1'000'000);
        benchmark::DoNotOptimize(calibrator.penalty().data());
    }
}

void choice_case(benchmark::State& state) {
    constexpr std::uint32_t tokens = 64;
    const auto experts = static_cast<std::uint32_t>(state.range(0)), k = static_cast<std::uint32_t>(state.range(1));
    const std::vector<float> logits = drawn_floats(std::size_t{tokens} * experts, 1);
    const std::vector<float> correction = drawn_floats(experts, 2);
    std::vector<ExpertChoice> chosen;
    std::size_t token = 0;
    for (auto _ : state) {
        choose_experts({&logits[token++ % tokens * experts], experts}, correction, k, chosen);
        benchmark::DoNotOptimize(chosen.data());
    }
    state.SetItemsProcessed(state.iterations());
}

// A budget of a quarter of the pages, and a step in which an eighth of them is used; what is likely changes each step.
struct Paging {
    PageManager manager;
    std::vector<float> probability[2];
    std::uint32_t pages;
    SimTime now;
    std::size_t step = 0;

    explicit Paging(std::uint32_t count) : manager(spec(count)), pages(count) {
        for (std::uint64_t seed : {1, 2}) probability[seed - 1] = drawn_floats(count, seed);
    }
    static PagerSpec spec(std::uint32_t pages) {
        PagerSpec spec;
        spec.pages = pages;
        spec.budget = spec.page * (pages / 4);
        return spec;
    }
    void plan() {
        now = now + milliseconds(100);
        manager.plan(now, probability[step++ % 2]);
    }
    void serve() {
        for (std::uint32_t i = 0; i < pages / 8; ++i) manager.schedule(now, used(i));
        now = now + milliseconds(100);
        for (std::uint32_t i = 0; i < pages / 8; ++i) {
            manager.use(now, used(i), PageAccess::write);
            manager.release(now, used(i));
        }
    }
    std::uint32_t used(std::uint32_t i) const { return (8 * i + static_cast<std::uint32_t>(step % 8)) % pages; }
};

void page_plan_case(benchmark::State& state) {
    Paging paging(whole.experts);
    for (auto _ : state) paging.plan();
}

void page_step_case(benchmark::State& state) {
    Paging paging(whole.experts);
    for (auto _ : state) {
        paging.plan();
        paging.serve();
    }
    state.counters["uses_per_step"] = whole.experts / 8;
}

void predictor_case(benchmark::State& state) {
    AccessPredictor predictor(whole.experts, 1);
    const std::vector<std::uint64_t> tokens[2] = {zipf_tokens(whole.experts, 1), zipf_tokens(whole.experts, 2)};
    std::size_t step = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(predictor.predict(0.5).data());
        predictor.learn(tokens[step++ % 2]);
    }
}

// A dispatch of 4,096 rows from eight peers through a ring of 1,024, in messages of 64; returns the rows.
std::uint64_t dispatch(TokenStream& stream, std::span<const std::byte> payload, Fingerprint* order = nullptr) {
    constexpr std::uint32_t peers = 8, each = 512, message = 64, experts = 32;
    std::uint32_t sent[peers]{}, closed = 0;
    std::vector<TokenRow> rows;
    while (closed < peers || !stream.is_drained()) {
        for (std::uint32_t peer = 0; peer < peers; ++peer) {
            if (sent[peer] == each) continue;
            const std::uint32_t given = stream.grant(peer, std::min(message, each - sent[peer]));
            rows.clear();
            for (std::uint32_t i = 0; i < given; ++i)
                rows.push_back({(sent[peer] + i) % experts, peer, sent[peer] + i});
            stream.deliver(peer, rows, payload.first(given * (payload.size() / message)));
            sent[peer] += given;
            if (sent[peer] < each) continue;
            stream.close(peer);
            ++closed;
        }
        while (const auto chunk = stream.take()) {
            if (order != nullptr) order->add(chunk->count);
            stream.release(*chunk);
        }
    }
    stream.reopen();
    return std::uint64_t{peers} * each;
}

constexpr TokenStreamSpec stream_spec(std::uint32_t row_bytes) {
    return {.rows = 1024, .row_bytes = row_bytes, .peers = 8, .experts = 32};
}

void stream_case(benchmark::State& state) {
    const auto row_bytes = static_cast<std::uint32_t>(state.range(0));
    TokenStream stream(stream_spec(row_bytes));
    const std::vector<std::byte> payload(std::size_t{64} * row_bytes);
    std::uint64_t rows = 0;
    for (auto _ : state) rows += dispatch(stream, payload);
    state.SetItemsProcessed(static_cast<std::int64_t>(rows));
}

void register_all() {
    using benchmark::RegisterBenchmark;
    // A GPU has two slots, or three so that a spare one leaves enough for all experts.
    RegisterBenchmark("balancer/slow_plan/2_slots", run_balancer, slow, 2U)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/slow_plan/3_slots", run_balancer, slow, 3U)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/fast_plan/3_slots", run_balancer, fast, 3U)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/balance_experts", balance_experts_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/difference", difference_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/apply", apply_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/plan_migration", migration_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("balancer/choose_ring", ring_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("gate/update", calibrator_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("gate/choose_per_token", choice_case)->Args({128, 8})->Args({256, 8})->Args({2048, 2});
    RegisterBenchmark("pager/plan", page_plan_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("pager/step", page_step_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("pager/predict_and_learn", predictor_case)->Unit(benchmark::kMicrosecond);
    RegisterBenchmark("comm_pipe/dispatch", stream_case)->Arg(16)->Arg(8192)->Unit(benchmark::kMicrosecond);
}

void add(Fingerprint& hash, const BalanceDecision& decision) {
    hash.add(static_cast<std::uint64_t>(decision.scale));
    for (const MapDelta::Change& change : decision.delta.changes) {
        hash.add(std::uint64_t{change.slot});
        hash.add(std::uint64_t{change.expert});
    }
    hash.add(static_cast<std::uint64_t>(decision.migration.transfer.value));
}

void show(const char* name, const Fingerprint& hash) { fmt::print("{:<20} {:016x}\n", name, hash.value()); }

std::uint64_t hash_of(Balancing balancing) {
    Fingerprint hash;
    for (int step = 0; step < 20; ++step) {
        if (const auto decision = balancing.decide()) add(hash, *decision);
    }
    return hash.value();
}

int run_small() {
    fmt::print("{:<20} {:016x}\n", "slow_plan", hash_of({small, slow, 2}));
    fmt::print("{:<20} {:016x}\n", "fast_plan", hash_of({small, fast, 3}));
    Fingerprint gate, pager, pipe;
    GateCalibrator calibrator(small.experts);
    std::vector<ExpertChoice> chosen;
    for (std::uint64_t step = 0; step < 20; ++step) {
        calibrator.update(zipf_loads(small.experts, step), 1'000'000);
        choose_experts(drawn_floats(small.experts, step), calibrator.penalty(), 4, chosen);
        for (const ExpertChoice& choice : chosen) gate.add(std::uint64_t{choice.expert});
    }
    show("gate", gate);
    Paging paging(small.experts);
    for (int step = 0; step < 20; ++step) {
        paging.plan();
        paging.serve();
    }
    pager.add(paging.manager.counters().loads);
    pager.add(paging.manager.counters().faults);
    show("pager", pager);
    TokenStream stream(stream_spec(16));
    dispatch(stream, std::vector<std::byte>(std::size_t{64} * 16), &pipe);
    show("comm_pipe", pipe);
    return 0;
}

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) return rehearse::bench::run_small();
    rehearse::bench::register_all();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

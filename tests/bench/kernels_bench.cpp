// CPU kernels on one thread: each prints its rate (FLOP or bytes of kernels/work.hpp per second) and `roof`, its share
// of what this machine gives a packaged GEMM or a plain copy of as many bytes. The experts also print `packaged`, their
// share of the fastest packaged GEMM of the same shapes, which stand beside them.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "kernels/array.hpp"
#include "kernels/cpu/attention.hpp"
#include "kernels/cpu/elementwise.hpp"
#include "kernels/cpu/expert_ffn.hpp"
#include "kernels/cpu/gate.hpp"
#include "kernels/cpu/partial_ffn.hpp"
#include "kernels/cpu/permute.hpp"
#include "kernels/work.hpp"
#include "sim/base/fingerprint.hpp"
#include "sim/base/rng.hpp"
#include "tests/bench/machine_roof.hpp"

namespace rehearse::bench {
namespace {

using namespace kernels;

template <class T>
const char* const type_name = std::is_same_v<T, float> ? "fp32" : "bf16";

template <class T>
Array<T> drawn(std::int64_t n) {
    const Stream stream(1, "bench");
    Array<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = from_float<T>(static_cast<float>(stream.uniform(0, i) - 0.5));
    }
    return values;
}

using State = benchmark::State;
using benchmark::Counter;

// Runs f for the benchmark; gives the processor seconds of the fastest iteration.
template <class F>
double run(State& state, const F& f) {
    f();
    double fastest = 1e300;
    for (auto _ : state) {
        fastest = std::min(fastest, seconds_of(f));
        benchmark::ClobberMemory();
    }
    return fastest;
}

// The rate of the fastest iteration, and the share of `roof` that it is.
void report(State& state, const char* unit, double count, double seconds, double roof) {
    state.counters[unit] = Counter(count / seconds, Counter::kDefaults, Counter::kIs1000);
    state.counters["roof"] = count / seconds / roof;
}

struct Tokens {
    std::int64_t tokens, hidden, experts;
    int top_k;
    std::string name() const { return fmt::format("{}x{}/top{}of{}", tokens, hidden, top_k, experts); }
};

// A token's chosen experts and where its rows go.
struct Routed {
    explicit Routed(const Tokens& t) : shape(t), logits(drawn<float>(t.tokens * t.experts)) {
        select();
        plan_route(context, {chosen, t.tokens, t.top_k}, t.experts, route);
    }
    void select() {
        select_experts(context, {logits, shape.tokens, shape.experts}, {},
                       {{chosen, shape.tokens, shape.top_k}, {weights, shape.tokens, shape.top_k}}, load);
    }

    CpuContext context;
    Tokens shape;
    Array<float> logits;
    std::int64_t slots = shape.tokens * shape.top_k;
    std::vector<std::int32_t> chosen = std::vector<std::int32_t>(slots),
                              load = std::vector<std::int32_t>(shape.experts);
    Array<float> weights = Array<float>(slots);
    Route route;
};

void add_routing(MachineRoof& roof, const Tokens& t) {
    benchmark::RegisterBenchmark(("select_experts/" + t.name()).c_str(), [&roof, t](State& state) {
        Routed routed(t);
        const double seconds = run(state, [&] { routed.select(); });
        const double bytes = select_bytes(t.tokens, t.experts, t.top_k);
        report(state, "B/s", bytes, seconds, roof.copy(bytes));
    });
    benchmark::RegisterBenchmark(("select_experts_backward/" + t.name()).c_str(), [&roof, t](State& state) {
        Routed r(t);
        const Array<float> d_weights = drawn<float>(r.slots);
        const double seconds = run(state, [&] {
            select_experts_backward(r.context,
                                    {{r.chosen, t.tokens, t.top_k}, {r.weights, t.tokens, t.top_k}},
                                    {d_weights, t.tokens, t.top_k}, {r.logits, t.tokens, t.experts});
        });
        const double bytes = select_bytes(t.tokens, t.experts, t.top_k);  // logits are written, the rest is read
        report(state, "B/s", bytes, seconds, roof.copy(bytes));
    });
    benchmark::RegisterBenchmark(("plan_route/" + t.name()).c_str(), [&roof, t](State& state) {
        Routed r(t);
        const double seconds = run(state, [&] {
            plan_route(r.context, {r.chosen, t.tokens, t.top_k}, t.experts, r.route);
        });
        const double bytes = 12.0 * static_cast<double>(r.slots);
        report(state, "B/s", bytes, seconds, roof.copy(bytes));
    });
}

template <class T>
struct Movement : Routed {
    explicit Movement(const Tokens& t) : Routed(t) {}
    Matrix<T> matrix(Array<T>& values) const {
        return {values, static_cast<std::int64_t>(values.size()) / shape.hidden, shape.hidden};
    }
    Matrix<const float> weight_matrix() const { return {weights, shape.tokens, shape.top_k}; }

    Array<T> tokens = drawn<T>(shape.tokens * shape.hidden), rows = drawn<T>(slots * shape.hidden);
    Array<T> d_rows = Array<T>(rows.size());
    Array<float> d_weights = Array<float>(slots);
};

template <class T, class F>
void add_movement(MachineRoof& roof, const char* name, const Tokens& t, double bytes, const F& f) {
    const std::string full = fmt::format("{}/{}/{}", name, type_name<T>, t.name());
    benchmark::RegisterBenchmark(full.c_str(), [&roof, t, bytes, f](State& state) {
        Movement<T> m(t);
        const double seconds = run(state, [&] { f(m); });
        report(state, "B/s", bytes, seconds, roof.copy(bytes));
    });
}

template <class T>
void add_movements(MachineRoof& roof, const Tokens& t) {
    const std::int64_t rows = t.tokens * t.top_k;
    const double element = sizeof(T), there = permute_bytes(rows, t.hidden, element),
                 back = combine_bytes(t.tokens, t.top_k, t.hidden, element);
    add_movement<T>(roof, "permute", t, there,
                    [](auto& m) { permute(m.context, m.matrix(m.tokens), m.route, m.matrix(m.rows)); });
    add_movement<T>(roof, "permute_backward", t, back,
                    [](auto& m) { permute_backward(m.context, m.matrix(m.rows), m.route, m.matrix(m.tokens)); });
    add_movement<T>(roof, "combine", t, back, [](auto& m) {
        combine(m.context, m.matrix(m.rows), m.route, m.weight_matrix(), m.matrix(m.tokens));
    });
    add_movement<T>(roof, "combine_backward", t, combine_backward_bytes(t.tokens, t.top_k, t.hidden, element),
                    [](auto& m) {
                        combine_backward(m.context, m.matrix(m.tokens), m.matrix(m.rows), m.route, m.weight_matrix(),
                                         m.matrix(m.d_rows),
                                         Matrix<float>(m.d_weights, m.shape.tokens, m.shape.top_k));
                    });
}

// The three products of a linear layer of m rows, k inputs and n outputs.
template <class T>
void add_products(MachineRoof& roof, std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::pair<const char*, Transposed> forms[] = {
        {"forward", Transposed::none}, {"input_gradient", Transposed::right}, {"weight_gradient", Transposed::left}};
    for (const auto& [name, form] : forms) {
        const std::string full = fmt::format("gemm/{}/{}/{}x{}x{}", name, type_name<T>, m, n, k);
        benchmark::RegisterBenchmark(full.c_str(), [&roof, m, n, k, transposed = form](State& state) {
            CpuContext context;
            const auto a = drawn<T>(m * k), b = drawn<T>(k * n);
            Array<float> c(static_cast<std::size_t>(m * n));
            const bool left = transposed == Transposed::left, right = transposed == Transposed::right;
            const Matrix<const T> a_matrix(a, left ? k : m, left ? m : k), b_matrix(b, right ? n : k, right ? k : n);
            const double seconds =
                run(state, [&] { gemm(context, a_matrix, b_matrix, Matrix<float>(c, m, n), transposed); });
            report(state, "FLOP/s", gemm_work(m, n, k, sizeof(T), sizeof(float)).flops, seconds, roof.gemm<T>());
        });
    }
}

struct Experts {
    std::int64_t experts, rows, hidden, intermediate;  // rows of each expert
    std::string name() const { return fmt::format("{}x{}rows/{}x{}", experts, rows, hidden, intermediate); }
    double flops() const { return expert_ffn_flops(experts * rows, hidden, intermediate); }
};

template <class T>
struct Layer {
    explicit Layer(const Experts& e, int threads = 1) : context(threads), s(e) {}
    std::int64_t total() const { return s.experts * s.rows; }
    Matrix<T> matrix(Array<T>& values) const {
        return {values, total(), static_cast<std::int64_t>(values.size()) / total()};
    }
    void forward() { expert_ffn<T>(context, counts, matrix(x), weights(), kept(), matrix(y)); }
    void backward() {
        expert_ffn_backward<T>(context, counts, matrix(y), matrix(x), weights(), kept(),
                               {matrix(d_activated), matrix(d_up), matrix(d_x),
                                {d_w_up, s.experts, s.hidden, 2 * s.intermediate},
                                {d_w_down, s.experts, s.intermediate, s.hidden}},
                               Write::replace);
    }
    // The two products of every expert, each as one call of the package: no SwiGLU, nothing else.
    void packaged(const PackagedGemm<T>& package) {
        for (std::int64_t e = 0; e < s.experts; ++e) {
            const std::int64_t first = e * s.rows, h = s.hidden, i = s.intermediate;
            package.run(s.rows, 2 * i, h, &x[first * h], &w_up[e * h * 2 * i], &up[first * 2 * i]);
            package.run(s.rows, h, i, &activated[first * i], &w_down[e * i * h], &y[first * h]);
        }
    }
    ExpertWeights<T> weights() const {
        return {{w_up, s.experts, s.hidden, 2 * s.intermediate}, {w_down, s.experts, s.intermediate, s.hidden}};
    }
    ExpertActivations<T> kept() { return {matrix(up), matrix(activated)}; }

    CpuContext context;
    Experts s;
    std::vector<std::int32_t> counts =
        std::vector<std::int32_t>(static_cast<std::size_t>(s.experts), static_cast<std::int32_t>(s.rows));
    Array<T> x = drawn<T>(total() * s.hidden), y = x, d_x = x;
    Array<T> up = drawn<T>(total() * 2 * s.intermediate), d_up = up;
    Array<T> activated = drawn<T>(total() * s.intermediate), d_activated = activated;
    Array<T> w_up = drawn<T>(s.experts * s.hidden * 2 * s.intermediate);
    Array<T> w_down = drawn<T>(s.experts * s.intermediate * s.hidden);
    Array<float> d_w_up = Array<float>(w_up.size()), d_w_down = Array<float>(w_down.size());
};

// Seconds of the fastest package over those of `ours`, for equal FLOPs. They take turns, so that a slow second of the
// machine meets both.
template <class T, class F>
double share_of_packaged(Layer<T>& layer, const F& ours) {
    double packaged = 1e300, own = 1e300, total = 0;
    for (int turns = 0; turns < 5 || total < 0.5; ++turns) {
        for (const auto& package : packaged_gemms(T{})) {
            packaged = std::min(packaged, seconds_of([&] { layer.packaged(package); }));
        }
        const double seconds = seconds_of(ours);
        if (turns == 0) packaged = 1e300;  // the first turn warms up
        else own = std::min(own, seconds);
        total += seconds;
    }
    return packaged / own;
}

template <class T>
void add_experts(MachineRoof& roof, const Experts& e) {
    const std::string tail = fmt::format("/{}/{}", type_name<T>, e.name());
    for (const auto& package : packaged_gemms(T{})) {
        benchmark::RegisterBenchmark(("packaged/" + package.name + tail).c_str(), [&roof, e, package](State& state) {
            Layer<T> layer(e);
            const double seconds = run(state, [&] { layer.packaged(package); });
            report(state, "FLOP/s", e.flops(), seconds, roof.gemm<T>());
        });
    }
    benchmark::RegisterBenchmark(("expert_ffn" + tail).c_str(), [&roof, e](State& state) {
        Layer<T> layer(e);
        const double seconds = run(state, [&] { layer.forward(); });
        report(state, "FLOP/s", e.flops(), seconds, roof.gemm<T>());
        state.counters["packaged"] = share_of_packaged(layer, [&] { layer.forward(); });
    });
    benchmark::RegisterBenchmark(("expert_ffn_2threads" + tail).c_str(), [&roof, e](State& state) {
        Layer<T> layer(e, 2);
        using Clock = std::chrono::steady_clock;
        double fastest = 1e300;  // by the clock on the wall: processor time is that of both
        for (auto _ : state) {
            const Clock::time_point begin = Clock::now();
            layer.forward();
            fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - begin).count());
        }
        report(state, "FLOP/s", e.flops(), fastest, 2 * roof.gemm<T>());
    });
    benchmark::RegisterBenchmark(("expert_ffn_backward" + tail).c_str(), [&roof, e](State& state) {
        Layer<T> layer(e);
        layer.forward();
        const double seconds = run(state, [&] { layer.backward(); });
        report(state, "FLOP/s", 2 * e.flops(), seconds, roof.gemm<T>());
        state.counters["packaged"] = 2 * share_of_packaged(layer, [&] { layer.backward(); });
    });
    benchmark::RegisterBenchmark(("expert_ffn_partial" + tail).c_str(), [&roof, e](State& state) {
        Layer<T> layer(e);
        const double seconds = run(state, [&] {
            ReadyTiles ready(layer.counts);
            for (std::int64_t tile = ready.tiles(); tile-- > 0;) ready.mark(tile);
            expert_ffn_partial<T>(layer.context, ready, rows_to_start(ready.rows()), layer.matrix(layer.x),
                                  layer.weights(), layer.kept(), layer.matrix(layer.y));
        });
        report(state, "FLOP/s", e.flops(), seconds, roof.gemm<T>());
    });
}

// Kernels whose operands are `streams` arrays of n elements.
template <class T, class F>
void add_stream(MachineRoof& roof, const char* name, std::int64_t n, int streams, const F& f) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", name, type_name<T>, n).c_str(),
                                 [&roof, n, streams, f](State& state) {
                                     CpuContext context;
                                     const auto a = drawn<T>(n), b = drawn<T>(n), c = drawn<T>(n);
                                     Array<T> out(static_cast<std::size_t>(n));
                                     const double seconds = run(state, [&] { f(context, a, b, c, out); });
                                     const double bytes = streamed_bytes(n, streams, sizeof(T));
                                     report(state, "B/s", bytes, seconds, roof.copy(bytes));
                                 });
}

template <class T>
void add_streams(MachineRoof& roof, std::int64_t n) {
    constexpr std::int64_t width = 1024;
    add_stream<T>(roof, "copy", n, 2,
                  [](auto& context, auto& a, auto&, auto&, auto& out) { copy<T>(context, a, out); });
    add_stream<T>(roof, "triad", n, 3, [](auto& context, auto& a, auto& b, auto&, auto& out) {
        scale_add<T>(context, a, b, 0.5f, out);
    });
    add_stream<T>(roof, "sum_buffers", n, 4, [](auto& context, auto& a, auto& b, auto& c, auto& out) {
        const std::span<const T> inputs[] = {a, b, c};
        sum_buffers<T>(context, inputs, out);
    });
    add_stream<T>(roof, "rms_norm", n, 2, [n](auto& context, auto& a, auto& b, auto&, auto& out) {
        rms_norm<T>(context, {a, n / width, width}, std::span(b).first(width), {out, n / width, width});
    });
    // A call moves half as much as the name says (n elements of g and u give n / 2), so two calls are one.
    const auto half = static_cast<std::size_t>(n / 2);
    const std::int64_t rows = n / (2 * width);
    add_stream<T>(roof, "swiglu", n, 3, [half, rows](auto& context, auto& a, auto&, auto&, auto& out) {
        for (int call = 0; call < 2; ++call) {
            swiglu<T>(context, {a, rows, 2 * width}, {std::span(out).first(half), rows, width});
        }
    });
    add_stream<T>(roof, "swiglu_backward", n, 5, [half, rows](auto& context, auto& a, auto& b, auto&, auto& out) {
        for (int call = 0; call < 2; ++call) {
            swiglu_backward<T>(context, {std::span(b).first(half), rows, width}, {a, rows, 2 * width},
                               {out, rows, 2 * width});
        }
    });
}

template <class T>
void add_attention(MachineRoof& roof, const AttentionShape& shape) {
    const std::string tail =
        fmt::format("/{}/{}heads/{}x{}", type_name<T>, shape.heads, shape.sequence, shape.head_dim);
    const auto add = [&](const char* name, double flops, auto f) {
        benchmark::RegisterBenchmark((name + tail).c_str(), [&roof, shape, flops, f](State& state) {
            CpuContext context;
            const auto q = drawn<T>(shape.elements());
            Array<T> out(q.size());
            Array<float> log_sum(static_cast<std::size_t>(shape.heads * shape.sequence)), d_q(q.size()),
                d_k = d_q, d_v = d_q;
            attention<T>(context, shape, {q, q, q}, out, log_sum);
            const double seconds = run(state, [&] { f(context, q, out, log_sum, AttentionGradients{d_q, d_k, d_v}); });
            report(state, "FLOP/s", flops, seconds, roof.gemm<T>());
        });
    };
    add("attention", attention_flops(shape), [shape](auto& context, auto& q, auto& out, auto& log_sum, auto) {
        attention<T>(context, shape, {q, q, q}, out, log_sum);
    });
    add("attention_backward", attention_backward_flops(shape),
        [shape](auto& context, auto& q, auto& out, auto& log_sum, auto gradients) {
            attention_backward<T>(context, shape, {q, q, q}, out, q, log_sum, gradients);
        });
}

void register_all(MachineRoof& roof) {
    for (const Tokens& t : {Tokens{1024, 1024, 64, 8}, Tokens{4096, 2048, 8, 2}}) {
        add_routing(roof, t);
        add_movements<float>(roof, t);
        add_movements<Bf16>(roof, t);
    }
    for (const Experts& e : {Experts{8, 64, 256, 512}, Experts{4, 256, 512, 1024}, Experts{2, 1024, 1024, 2048},
                             Experts{4, 200, 1024, 704}}) {
        add_experts<float>(roof, e);
        add_experts<Bf16>(roof, e);
    }
    for (const std::int64_t rows : {128, 1024}) {
        add_products<float>(roof, rows, 2048, 1024);
        add_products<Bf16>(roof, rows, 2048, 1024);
    }
    add_streams<float>(roof, 1 << 22);
    add_streams<Bf16>(roof, 1 << 22);
    add_attention<float>(roof, {8, 1024, 64});
    add_attention<Bf16>(roof, {8, 1024, 64});
}

// Numbers that no machine computes differently: who goes where.
int run_small() {
    Fingerprint hash;
    Movement<float> m({64, 16, 12, 3});
    permute(m.context, m.matrix(m.tokens), m.route, m.matrix(m.rows));
    for (const std::int32_t row : m.route.row_of_slot) hash.add(static_cast<std::uint64_t>(row));
    for (const float value : m.rows) hash.add(std::uint64_t{bits_of(value)});
    fmt::print("{:<20} {:016x}\n", "route_and_permute", hash.value());
    Layer<Bf16> layer({2, 32, 16, 24});
    layer.forward();
    layer.backward();
    const bool all_finite =
        std::all_of(layer.d_w_up.begin(), layer.d_w_up.end(), [](float g) { return std::isfinite(g); });
    fmt::print("{:<20} {}\n", "expert_ffn", all_finite ? "finite" : "not finite");
    return all_finite ? 0 : 1;
}

}  // namespace
}  // namespace rehearse::bench

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--small") == 0) return rehearse::bench::run_small();
    rehearse::bench::MachineRoof roof;
    rehearse::bench::register_all(roof);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}

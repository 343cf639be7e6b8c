// kernels_device_timing [--probe] DATE CALIBRATION: times every kernel on the first GPU, prints a table and writes a
// calibration file. Without a GPU it says why and ends with 77.
#include <fmt/core.h>

#include <fstream>
#include <string_view>

#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/partial_ffn.hpp"
#include "kernels/cuda/timing.hpp"
#include "kernels/work.hpp"

namespace rehearse::kernels::cuda {
namespace {

template <class T>
constexpr const char* name_of = "bf16";
template <>
constexpr const char* name_of<float> = "fp32";
template <>
constexpr const char* name_of<Fp16> = "fp16";

// Device memory that holds small numbers, not noise: NaNs and denormals have times of their own.
template <class T>
DeviceArray<T> filled(CudaContext& context, std::int64_t n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = from_float<T>(static_cast<float>((i * 2654435761u >> 8) % 1024) / 1024.0f - 0.5f);
    }
    DeviceArray<T> array(n);
    array.upload(values, context.stream());
    context.main_stream().wait_on_host();
    return array;
}

template <class T>
void time_products(CudaContext& context, Timing& timing) {
    for (const Extents& e : {Extents{4096, 4096, 4096}, {8192, 8192, 8192}, {1024, 8192, 2048}, {128, 4096, 4096}}) {
        const auto a = filled<T>(context, e.m * e.k), b = filled<T>(context, e.k * e.n);
        const DeviceArray<T> c(e.m * e.n);
        const Work work = gemm_work(e.m, e.n, e.k, sizeof(T), sizeof(T));
        timing.measure({"gemm", {{"m", e.m}, {"n", e.n}, {"k", e.k}}, name_of<T>, "", work.flops, 0, {}}, [&] {
            gemm<T, T>(context, {a.span(), e.m, e.k}, {b.span(), e.k, e.n}, {c.span(), e.m, e.n});
        });
    }
}

template <class T>
void time_streams(CudaContext& context, Timing& timing) {
    const std::int64_t n = std::int64_t{1} << 28, width = 4096;
    const auto a = filled<T>(context, n), b = filled<T>(context, n);
    const DeviceArray<T> out(n);
    DeviceArray<const T*> inputs(2);
    const std::vector<const T*> pointers{a.data(), b.data()};
    inputs.upload(pointers, context.stream());
    const auto time = [&](const char* what, std::int64_t streams, const auto& work) {
        timing.measure({what, {{"elements", n}}, name_of<T>, "", 0, streamed_bytes(n, streams, sizeof(T)), {}}, work);
    };
    time("copy", 2, [&] { copy<T>(context, a.span(), out.span()); });
    time("triad", 3, [&] { scale_add<T>(context, a.span(), b.span(), 0.5f, out.span()); });
    time("sum_buffers", 3, [&] { sum_buffers<T>(context, std::span<const T* const>(inputs.span()), out.span()); });
    time("rms_norm", 2, [&] {
        rms_norm<T>(context, {a.span(), n / width, width}, b.span().first(width), {out.span(), n / width, width});
    });
}

// Gate, route and the movement of tokens.
template <class T>
void time_routing(CudaContext& context, Timing& timing) {
    const std::int64_t tokens = 16384, experts = 64, top_k = 8, hidden = 2048, slots = tokens * top_k;
    const auto logits = filled<float>(context, tokens * experts);
    const DeviceArray<std::int32_t> chosen(slots), row_of_slot(slots), slot_of_row(slots), counts(experts);
    const DeviceArray<float> weights(slots), d_weights(slots);
    const Route route{{row_of_slot.span(), tokens, top_k}, slot_of_row.span(), counts.span()};
    const Choice choice{{chosen.span(), tokens, top_k}, {weights.span(), tokens, top_k}};
    const Matrix<float> d_weight_matrix(d_weights.span(), tokens, top_k);
    const auto x = filled<T>(context, tokens * hidden);
    const DeviceArray<T> rows(slots * hidden), d_rows(slots * hidden), y(tokens * hidden);
    const Matrix<T> x_matrix(x.span(), tokens, hidden), y_matrix(y.span(), tokens, hidden),
        row_matrix(rows.span(), slots, hidden), d_row_matrix(d_rows.span(), slots, hidden);
    const auto time = [&](const char* what, double bytes, const auto& work) {
        const Shape shape{{"tokens", tokens}, {"experts", experts}, {"top_k", top_k}, {"hidden", hidden}};
        timing.measure({what, shape, name_of<T>, "", 0, bytes, {}}, work);
    };
    time("select_experts", select_bytes(tokens, experts, top_k),
         [&] { select_experts(context, {logits.span(), tokens, experts}, {}, choice); });
    time("plan_route", 12.0 * static_cast<double>(slots), [&] { plan_route(context, choice.experts, route); });
    time("permute", permute_bytes(slots, hidden, sizeof(T)), [&] { permute<T>(context, x_matrix, route, row_matrix); });
    time("combine", combine_bytes(tokens, top_k, hidden, sizeof(T)),
         [&] { combine<T>(context, row_matrix, route, choice.weights, y_matrix); });
    time("combine_backward", combine_backward_bytes(tokens, top_k, hidden, sizeof(T)), [&] {
        combine_backward<T>(context, x_matrix, row_matrix, route, choice.weights, d_row_matrix, d_weight_matrix);
    });
}

template <class T>
class Experts {
public:
    Experts(CudaContext& context, std::int64_t count, std::int64_t rows_each)
        : context_(context), counts_(static_cast<std::size_t>(count), static_cast<std::int32_t>(rows_each)) {}

    void time(Timing& timing) {
        const auto measure = [&](const char* what, const char* algorithm, double factor, const auto& work) {
            const Shape shape{{"experts", e}, {"rows", rows}, {"hidden", h}, {"intermediate", i}};
            timing.measure({what, shape, name_of<T>, algorithm, factor * expert_ffn_flops(rows, h, i), 0, {}}, work);
        };
        const auto forward = [&](const ExpertMethods& m) {
            expert_ffn<T>(context_, m, counts_, matrix(x_, h), weights(), kept(), matrix(y_, h));
        };
        measure("expert_ffn", "loop", 1, [&] { forward({}); });
        const auto one = GroupedMethod::one_call;
        measure("expert_ffn", "grouped", 1, [&] { forward({one, one, one, one}); });
        const ExpertMethods faster =
            faster_methods<T>(context_, 5, counts_, matrix(x_, h), weights(), kept(), matrix(y_, h), gradients());
        measure("expert_ffn", "faster", 1, [&] { forward(faster); });
        measure("expert_ffn_backward", "faster", 2, [&] {
            expert_ffn_backward<T>(context_, faster, counts_, matrix(y_, h), matrix(x_, h), weights(), kept(),
                                   gradients(), Write::replace);
        });
        ReadyTiles ready(context_, counts_);
        measure("expert_ffn_partial", "all there", 1, [&] {
            ready.clear(context_.stream());
            for (std::int64_t tile = 0; tile < ready.tiles(); ++tile) ready.mark(tile, context_.stream());
            expert_ffn_partial<T>(context_, ready, matrix(x_, h), weights(), kept(), matrix(y_, h));
        });
        timing.measure({"swiglu", {{"rows", rows}, {"intermediate", i}}, name_of<T>, "", 0,
                        swiglu_bytes(rows, i, sizeof(T)), {}},
                       [&] { swiglu<T>(context_, matrix(up_, 2 * i), matrix(activated_, i)); });
    }

private:
    static constexpr std::int64_t h = 2048, i = 4096;
    Matrix<T> matrix(const DeviceArray<T>& array, std::int64_t cols) const { return {array.span(), rows, cols}; }
    ExpertWeights<T> weights() const { return {{w_up_.span(), e, h, 2 * i}, {w_down_.span(), e, i, h}}; }
    ExpertActivations<T> kept() const { return {matrix(up_, 2 * i), matrix(activated_, i)}; }
    ExpertGradients<T> gradients() const {
        return {matrix(d_activated_, i), matrix(d_up_, 2 * i), matrix(d_x_, h), {d_w_up_.span(), e, h, 2 * i},
                {d_w_down_.span(), e, i, h}};
    }

    CudaContext& context_;
    std::vector<std::int32_t> counts_;
    std::int64_t e = static_cast<std::int64_t>(counts_.size()), rows = e * counts_[0];
    DeviceArray<T> x_ = filled<T>(context_, rows * h), w_up_ = filled<T>(context_, e * h * 2 * i),
                   w_down_ = filled<T>(context_, e * i * h), y_{rows * h}, d_x_{rows * h};
    DeviceArray<T> up_{rows * 2 * i}, d_up_{rows * 2 * i}, activated_{rows * i}, d_activated_{rows * i};
    DeviceArray<float> d_w_up_{e * h * 2 * i}, d_w_down_{e * i * h};
};

template <class T>
void time_attention(CudaContext& context, Timing& timing) {
    const AttentionShape s{32, 4096, 128};
    const auto q = filled<T>(context, s.elements()), k = filled<T>(context, s.elements());
    const DeviceArray<T> out(s.elements());
    const DeviceArray<float> log_sum(s.heads * s.sequence), d_q(s.elements()), d_k(s.elements()), d_v(s.elements());
    const AttentionInput<T> in{q.span(), k.span(), k.span()};
    const Shape shape{{"heads", s.heads}, {"sequence", s.sequence}, {"head_dim", s.head_dim}};
    timing.measure({"attention", shape, name_of<T>, "", attention_flops(s), 0, {}},
                   [&] { attention<T>(context, s, in, out.span(), log_sum.span()); });
    timing.measure({"attention_backward", shape, name_of<T>, "", attention_backward_flops(s), 0, {}}, [&] {
        attention_backward<T>(context, s, in, out.span(), q.span(), log_sum.span(),
                              {d_q.span(), d_k.span(), d_v.span()});
    });
}

void time_all(CudaContext& context, Timing& timing) {
    time_products<Bf16>(context, timing);
    time_products<Fp16>(context, timing);
    time_streams<Bf16>(context, timing);
    time_streams<float>(context, timing);
    time_routing<Bf16>(context, timing);
    for (const std::int64_t rows : {64, 256, 2048}) Experts<Bf16>(context, 16, rows).time(timing);
    time_attention<Bf16>(context, timing);
}

int run(const std::vector<std::string>& arguments) {
    const bool only_probes = arguments.size() == 1 && arguments[0] == "--probe";
    if (!only_probes && arguments.size() != 2) {
        fmt::print(stderr, "usage: kernels_device_timing --probe | DATE CALIBRATION.yaml\n");
        return 2;
    }
    const DeviceProbe device = probe_device();
    if (device.count == 0) {
        fmt::print("{}\n", device.absent);
        return 77;
    }
    fmt::print("{}, sm_{}, {} GiB\n", device.name, device.compute_capability, device.memory_bytes >> 30);
    if (only_probes) return 0;
    CudaContext context;
    Timing timing(context);
    time_all(context, timing);
    fmt::print("{}", timing.table());
    std::ofstream file(arguments[1]);
    file << timing.calibration(device, arguments[0]);
    file.close();
    if (file) return 0;
    fmt::print(stderr, "{}: cannot be written\n", arguments[1]);
    return 1;
}

}  // namespace
}  // namespace rehearse::kernels::cuda

int main(int argc, char** argv) {
    try {
        return rehearse::kernels::cuda::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}

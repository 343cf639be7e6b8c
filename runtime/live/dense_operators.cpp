#include "runtime/live/dense_operators.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention.hpp"
#include "kernels/cpu/elementwise.hpp"
#include "kernels/cpu/expert_ffn.hpp"
#include "kernels/cpu/gemm.hpp"

namespace rehearse {

using kernels::Matrix;

namespace {

constexpr std::size_t array_elements = std::size_t{8} << 20;  // 16 MiB: beyond the second-level cache of any core

template <class T>
std::span<T> first(kernels::Array<T>& values, std::int64_t count) {
    if (values.size() < static_cast<std::size_t>(count)) values.resize(static_cast<std::size_t>(count));
    return std::span(values).first(static_cast<std::size_t>(count));
}

}  // namespace

DenseOperators::DenseOperators(const TrainingSpec& training, kernels::CpuContext& context)
    : model_(training.model), micro_batch_(training.micro_batch), context_(context), arrays_(array_elements) {}

template <class T>
std::span<T> DenseOperators::next(kernels::Array<T>& arena, std::size_t& used, std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    if (arena.size() < size + array_elements) arena.resize(size + array_elements);
    if (used + size > arena.size()) used = 0;
    const std::span<T> taken = std::span(arena).subspan(used, size);
    used += (size + 63) / 64 * 64;
    return taken;
}

void DenseOperators::run(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::gemm: return product(op);
        case OperatorKind::attention: return attention(op);
        case OperatorKind::memory:
            return std::string_view(op.name).starts_with("swiglu") ? swiglu(op) : stream(op.bytes);
        case OperatorKind::host: return;  // the host's own time: this is the host
    }
}

// Weight gradients are added up in single precision, from the activations and their gradients.
void DenseOperators::product(const Operator& op) {
    for (std::int64_t i = 0; i < op.batch; ++i) {
        if (op.output_bytes == 8) {
            kernels::gemm(context_, Matrix<const LiveElement>(first(activations_, op.k * op.m), op.k, op.m),
                          Matrix<const LiveElement>(first(results_, op.k * op.n), op.k, op.n),
                          Matrix<float>(next(gradients_, gradients_used_, op.m * op.n), op.m, op.n),
                          kernels::Transposed::left, kernels::Write::accumulate);
            continue;
        }
        const bool is_gradient = std::string_view(op.name).ends_with("dgrad");
        const std::span<LiveElement> weights = next(weights_, weights_used_, op.k * op.n);
        kernels::gemm(context_, Matrix<const LiveElement>(first(activations_, op.m * op.k), op.m, op.k),
                      is_gradient ? Matrix<const LiveElement>(weights, op.n, op.k)
                                  : Matrix<const LiveElement>(weights, op.k, op.n),
                      Matrix<LiveElement>(first(results_, op.m * op.n), op.m, op.n),
                      is_gradient ? kernels::Transposed::right : kernels::Transposed::none);
    }
}

void DenseOperators::norm(std::span<const LiveElement> tokens, std::span<LiveElement> into) {
    const std::int64_t h = model_.hidden, n = static_cast<std::int64_t>(tokens.size()) / h;
    const kernels::Array<LiveElement> scale(static_cast<std::size_t>(h), kernels::from_float<LiveElement>(1.0f));
    kernels::rms_norm(context_, Matrix<const LiveElement>(tokens, n, h), std::span<const LiveElement>(scale),
                      Matrix<LiveElement>(into, n, h));
}

std::span<LiveElement> DenseOperators::room(std::size_t elements) {
    return first(results_, static_cast<std::int64_t>(elements));
}

// Reads 2 and writes 1 per inner element of a token; backward 3 and 2.
void DenseOperators::swiglu(const Operator& op) {
    const bool is_backward = std::string_view(op.name).ends_with("backward");
    const auto inner = static_cast<std::int64_t>(op.bytes / (sizeof(LiveElement) * (is_backward ? 5.0 : 3.0)));
    const std::int64_t width = model_.ffn;
    const Matrix<LiveElement> up(first(activations_, 2 * inner), inner / width, 2 * width);
    const Matrix<LiveElement> out(first(results_, 3 * inner).first(static_cast<std::size_t>(inner)), inner / width,
                                  width);
    if (!is_backward) return kernels::swiglu<LiveElement>(context_, up, out);
    const Matrix<LiveElement> d_up(first(results_, 3 * inner).last(static_cast<std::size_t>(2 * inner)), inner / width,
                                   2 * width);
    kernels::swiglu_backward<LiveElement>(context_, out, up, d_up);
}

void DenseOperators::stream(double bytes) {
    auto left = static_cast<std::size_t>(bytes / (3 * sizeof(LiveElement)));
    const std::size_t third = array_elements / 3;
    while (left > 0) {
        const std::size_t count = std::min(left, third);
        if (arrays_used_ + 3 * count > array_elements) arrays_used_ = 0;
        const std::span<LiveElement> all = std::span(arrays_).subspan(arrays_used_, 3 * count);
        kernels::scale_add(context_, std::span<const LiveElement>(all.first(count)),
                           std::span<const LiveElement>(all.subspan(count, count)), 1.0f, all.last(count));
        arrays_used_ += 3 * count;
        left -= count;
    }
}

// All query heads with keys of their own: the workload counts the same FLOPs.
void DenseOperators::attention(const Operator& op) {
    const kernels::AttentionShape shape{micro_batch_ * model_.heads, model_.sequence, model_.head_width()};
    const std::int64_t elements = shape.heads * shape.sequence * shape.head_dim;
    const auto count = static_cast<std::size_t>(elements);
    const std::span<LiveElement> all = first(activations_, 3 * elements);
    const kernels::AttentionInput<LiveElement> in{all.first(count), all.subspan(count, count), all.last(count)};
    const std::span<LiveElement> out = first(results_, elements);
    log_sum_.resize(static_cast<std::size_t>(shape.heads * shape.sequence));
    if (op.phase == AttentionPhase::forward) return kernels::attention<LiveElement>(context_, shape, in, out, log_sum_);
    const std::span<float> gradients = first(attention_gradients_, 3 * elements);
    kernels::attention_backward<LiveElement>(
        context_, shape, in, out, out, log_sum_,
        {gradients.first(count), gradients.subspan(count, count), gradients.last(count)});
}

}  // namespace rehearse

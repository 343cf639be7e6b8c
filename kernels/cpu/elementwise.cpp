#include "kernels/cpu/elementwise.hpp"

#include "kernels/body/elementwise.hpp"
#include "kernels/body/rms_norm.hpp"
#include "kernels/cpu/launch.hpp"

namespace rehearse::kernels {

namespace {

std::int64_t stretches(std::int64_t n) { return (n + stretch - 1) / stretch; }

void check_length(std::size_t length, std::size_t expected) {
    REHEARSE_CHECK(length == expected, "a span of " + std::to_string(length) + " elements beside one of " +
                                           std::to_string(expected));
}

}  // namespace

template <class T>
void copy(CpuContext& context, std::span<const std::type_identity_t<T>> from, std::span<T> to) {
    check_length(from.size(), to.size());
    const auto n = static_cast<std::int64_t>(to.size());
    run_blocks(context, stretches(n), Copy<T>{from.data(), to.data(), n});
}

template <class T>
void scale_add(CpuContext& context, std::span<const std::type_identity_t<T>> a,
               std::span<const std::type_identity_t<T>> b, float factor, std::span<T> out) {
    check_length(a.size(), out.size());
    check_length(b.size(), out.size());
    const auto n = static_cast<std::int64_t>(out.size());
    run_blocks(context, stretches(n), ScaleAdd<T>{a.data(), b.data(), out.data(), n, factor});
}

template <class T>
void sum_buffers(CpuContext& context, std::span<const std::span<const std::type_identity_t<T>>> inputs,
                 std::span<T> out) {
    REHEARSE_CHECK(!inputs.empty(), "a sum of no buffers");
    const auto pointers = context.scratch<const T*>(Scratch::pointers, static_cast<std::int64_t>(inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        check_length(inputs[i].size(), out.size());
        pointers[i] = inputs[i].data();
    }
    const auto n = static_cast<std::int64_t>(out.size());
    run_blocks(context, stretches(n), SumBuffers<T>{pointers.data(), out.data(), n, static_cast<int>(inputs.size())});
}

template <class T>
void rms_norm(CpuContext& context, Input<T> x, std::span<const std::type_identity_t<T>> scale, Matrix<T> y) {
    check_same_shape(x, y, "rms_norm");
    check_length(scale.size(), static_cast<std::size_t>(x.cols()));
    run_blocks(context, x.rows(), RmsNorm<T>{x.data(), scale.data(), y.data(), x.cols()});
}

template void copy(CpuContext&, std::span<const float>, std::span<float>);
template void copy(CpuContext&, std::span<const Bf16>, std::span<Bf16>);
template void scale_add(CpuContext&, std::span<const float>, std::span<const float>, float, std::span<float>);
template void scale_add(CpuContext&, std::span<const Bf16>, std::span<const Bf16>, float, std::span<Bf16>);
template void sum_buffers(CpuContext&, std::span<const std::span<const float>>, std::span<float>);
template void sum_buffers(CpuContext&, std::span<const std::span<const Bf16>>, std::span<Bf16>);
template void rms_norm(CpuContext&, Input<float>, std::span<const float>, Matrix<float>);
template void rms_norm(CpuContext&, Input<Bf16>, std::span<const Bf16>, Matrix<Bf16>);

}  // namespace rehearse::kernels

#include "models/compute/profile_keys.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/units_text.hpp"

namespace rehearse {

namespace {

template <class... F>
struct Overload : F... {
    using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

}  // namespace

std::vector<ProfileEntry> profile_entries(DeviceProfile& p) {
    return {
        {"device.peak", &p.peak},
        {"device.multiprocessors", &p.multiprocessors},
        {"device.memory", &p.memory},
        {"device.memory_size", &p.memory_size},
        {"device.memory_reserve", &p.memory_reserve},
        {"gemm.efficiency", &p.gemm_efficiency},
        {"gemm.tail", &p.gemm_tail},
        {"gemm.k_overhead", &p.gemm_k_overhead},
        {"gemm.misaligned_efficiency", &p.misaligned_efficiency},
        {"kernel.memory_efficiency", &p.memory_efficiency},
        {"kernel.overhead", &p.kernel_overhead},
        {"kernel.attention_efficiency", &p.attention_efficiency},
        {"kernel.attention_backward", &p.attention_backward},
        {"host.layer_forward", &p.host_layer_forward},
        {"host.layer_backward", &p.host_layer_backward},
        {"host.collective", &p.host_collective},
        {"host.micro_batch", &p.host_micro_batch},
        {"host.exchange", &p.host_exchange},
        {"host.input", &p.host_input},
        {"host.step", &p.host_step},
        {"nvlink.slowdown", &p.local_slowdown},
        {"nvlink.communication_multiprocessors", &p.communication_multiprocessors},
        {"nvlink.overlap_chunks", &p.overlap_chunks},
        {"network.efficiency", &p.network_efficiency},
        {"network.group_efficiency", &p.group_efficiency},
        {"network.message_latency", &p.message_latency},
        {"variation.host_tail_share", &p.variation.host_tail_share},
        {"variation.host_tail_slowdown", &p.variation.host_tail_slowdown},
        {"variation.jitter", &p.variation.jitter},
        {"variation.slow_host_share", &p.variation.slow_host_share},
        {"variation.slow_host_slowdown", &p.variation.slow_host_slowdown},
    };
}

double get_number(const ProfileEntry& entry) {
    return std::visit(Overload{
                          [](Ratio* x) { return x->value; },
                          [](SimDuration* x) { return x->seconds(); },
                          [](FlopRate* x) { return x->value; },
                          [](double* x) { return *x; },
                          [](std::int64_t* x) { return static_cast<double>(*x); },
                          [](auto* x) { return static_cast<double>(x->value); },
                      },
                      entry.number);
}

void set_number(const ProfileEntry& entry, double value) {
    std::visit(Overload{
                   [&](Ratio* x) { x->value = value; },
                   [&](SimDuration* x) { *x = seconds(value); },
                   [&](FlopRate* x) { x->value = value; },
                   [&](double* x) { *x = value; },
                   [&](std::int64_t* x) { *x = std::llround(value); },
                   [&](auto* x) { x->value = std::llround(value); },
               },
               entry.number);
}

std::string text_of(const ProfileEntry& entry) {
    return std::visit(Overload{
                          [](std::int64_t* x) { return fmt::format("{}", *x); },
                          [](double* x) { return fmt::format("{}", *x); },
                          [](Bandwidth* x) { return format_byte_rate(*x); },
                          [](auto* x) { return format(*x); },
                      },
                      entry.number);
}

}  // namespace rehearse

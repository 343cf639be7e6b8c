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

constexpr ProfileRange share{0, 1}, efficiency{0.01, 1};
constexpr ProfileRange peak{1e9, 1e18};            // FLOP/s: from one core of a CPU on
constexpr ProfileRange memory_rate{8e9, 8e15};     // bit/s: 1 GB/s to 1 PB/s
constexpr ProfileRange device_time{0, 1};          // s, of a kernel or a message
constexpr ProfileRange host_time{0, 60};           // s

}  // namespace

std::vector<ProfileEntry> profile_entries(DeviceProfile& p) {
    return {
        {"device.peak", &p.peak, peak},
        {"device.multiprocessors", &p.multiprocessors, {1, 65536}},
        {"device.memory", &p.memory, memory_rate},
        {"device.memory_size", &p.memory_size, {1e6, 1e15}},
        {"device.memory_reserve", &p.memory_reserve, {0, 1e15}},
        {"gemm.efficiency", &p.gemm_efficiency, efficiency},
        {"gemm.tail", &p.gemm_tail, share},
        {"gemm.k_overhead", &p.gemm_k_overhead, {0, 65536}},
        {"gemm.misaligned_efficiency", &p.misaligned_efficiency, efficiency},
        {"gemm.fp8_rate", &p.fp8_rate, {0.1, 4}},
        {"kernel.memory_efficiency", &p.memory_efficiency, efficiency},
        {"kernel.overhead", &p.kernel_overhead, device_time},
        {"kernel.pass_slowdown", &p.kernel_slowdown, {0.1, 100}},
        {"kernel.attention_efficiency", &p.attention_efficiency, efficiency},
        {"kernel.attention_backward", &p.attention_backward, {0.01, 2}},
        {"host.layer_forward", &p.host_layer_forward, host_time},
        {"host.layer_backward", &p.host_layer_backward, host_time},
        {"host.collective", &p.host_collective, host_time},
        {"host.micro_batch", &p.host_micro_batch, host_time},
        {"host.exchange", &p.host_exchange, host_time},
        {"host.input", &p.host_input, host_time},
        {"host.step", &p.host_step, host_time},
        {"nvlink.slowdown", &p.local_slowdown, {0.1, 100}},
        {"nvlink.communication_multiprocessors", &p.communication_multiprocessors, share},
        {"nvlink.gather_multiprocessors", &p.gather_multiprocessors, share},
        {"nvlink.all_to_all_rate", &p.all_to_all_rate, {0.01, 2}},
        {"nvlink.overlap_chunks", &p.overlap_chunks, {1, 1024}},
        {"network.efficiency", &p.network_efficiency, efficiency},
        {"network.group_efficiency", &p.group_efficiency, efficiency},
        {"network.message_latency", &p.message_latency, device_time},
        {"exchange.network_efficiency", &p.exchange.network_efficiency, efficiency},
        {"exchange.dispatch_beside", &p.exchange.dispatch_beside, efficiency},
        {"exchange.dispatch_cached_beside", &p.exchange.dispatch_cached_beside, efficiency},
        {"exchange.combine_beside", &p.exchange.combine_beside, efficiency},
        {"exchange.notify", &p.exchange.notify, device_time},
        {"exchange.notify_cached", &p.exchange.notify_cached, device_time},
        {"variation.host_tail_share", &p.variation.host_tail_share, share},
        {"variation.host_tail_slowdown", &p.variation.host_tail_slowdown, {0, 100}},
        {"variation.jitter", &p.variation.jitter, {0, 10}},
        {"variation.slow_host_share", &p.variation.slow_host_share, share},
        {"variation.slow_host_slowdown", &p.variation.slow_host_slowdown, {0, 100}},
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

bool in_range(const ProfileEntry& entry) {
    const double value = get_number(entry);
    return value >= entry.range.low && value <= entry.range.high;
}

std::string range_text(const ProfileEntry& entry) {
    const auto text = [&](double value) {
        return std::visit(
            [&](auto* x) {
                auto copy = *x;
                const ProfileEntry at{entry.key, &copy, entry.range};
                set_number(at, value);
                return text_of(at);
            },
            entry.number);
    };
    return fmt::format("{} to {}", text(entry.range.low), text(entry.range.high));
}

}  // namespace rehearse

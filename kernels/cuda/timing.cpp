#include "kernels/cuda/timing.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "sim/base/quantile.hpp"

namespace rehearse::kernels::cuda {

namespace {

constexpr int warm_ups = 3, repeats = 21;

std::string text_of(const Shape& shape, const char* between, const char* separator) {
    std::string text;
    for (const auto& [name, value] : shape) {
        text += fmt::format("{}{}{}{}", text.empty() ? "" : separator, name, between, value);
    }
    return text;
}

std::string version_text(int version, int major, int minor) {
    return fmt::format("{}.{}", version / major, version % major / minor);
}

}  // namespace

double Sample::median() const { return rehearse::median(seconds); }
double Sample::spread() const { return relative_spread(seconds); }

void Timing::measure(Sample sample, const std::function<void()>& work) {
    for (int i = 0; i < warm_ups; ++i) work();
    std::vector<DeviceEvent> before(repeats), after(repeats);
    for (std::size_t i = 0; i < repeats; ++i) {
        before[i].record(context_.stream());
        work();
        after[i].record(context_.stream());
    }
    for (std::size_t i = 0; i < repeats; ++i) sample.seconds.push_back(after[i].seconds_since(before[i]));
    samples_.push_back(std::move(sample));
}

double Timing::best_rate(double Sample::* amount, const std::string& what) const {
    double best = 0;
    for (const Sample& sample : samples_) {
        if (sample.what == what) best = std::max(best, sample.*amount / sample.median());
    }
    return best;
}

std::string Timing::table() const {
    const double gemm = best_rate(&Sample::flops, "gemm"), copy = best_rate(&Sample::bytes, "copy");
    std::string text = fmt::format("{:<22} {:<52} {:<5} {:<9} {:>10} {:>7} {:>14} {:>6}\n", "kernel", "shape", "type",
                                   "method", "median us", "spread", "rate", "roof");
    for (const Sample& s : samples_) {
        const bool computes = s.flops > 0;
        const double rate = (computes ? s.flops : s.bytes) / s.median(), roof = computes ? gemm : copy;
        text += fmt::format("{:<22} {:<52} {:<5} {:<9} {:>10.1f} {:>6.1f}% {:>7.1f} {:<6} {:>5.0f}%\n", s.what,
                            text_of(s.shape, "=", " "), s.precision, s.algorithm, 1e6 * s.median(), 100 * s.spread(),
                            rate / (computes ? 1e12 : 1e9), computes ? "TFLOPS" : "GB/s",
                            roof > 0 ? 100 * rate / roof : 0.0);
    }
    return text;
}

std::string Timing::calibration(const DeviceProbe& device, const std::string& date) const {
    std::string text = fmt::format(
        "schema_version: 1\ndevice: {{name: {}, kind: gpu, count: 1, driver: \"{}\", clocks: {} MHz}}\n"
        "software:\n  - {{name: CUDA runtime, version: \"{}\"}}\n  - {{name: cuBLAS, version: \"{}\"}}\n"
        "date: {}\nsource: {{command: kernels/device_check.sh, files: [], origin: \"\"}}\nsamples:\n",
        device.name, version_text(device.driver_version, 1000, 10), device.clock_khz / 1000,
        version_text(device.runtime_version, 1000, 10), version_text(device.cublas_version, 10000, 100), date);
    for (const Sample& s : samples_) {
        std::string seconds;
        for (const double second : s.seconds) seconds += fmt::format("{}{:.6g}", seconds.empty() ? "" : ", ", second);
        text += fmt::format("  - {{what: {}, kind: kernel, shape: {{{}}}, precision: {}{}, seconds: [{}]}}\n", s.what,
                            text_of(s.shape, ": ", ", "), s.precision,
                            s.algorithm.empty() ? "" : ", algorithm: " + s.algorithm, seconds);
    }
    return text;
}

}  // namespace rehearse::kernels::cuda

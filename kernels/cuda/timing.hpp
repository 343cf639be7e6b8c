// Times work on a device with events and collects what a calibration file keeps.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/context.hpp"
#include "kernels/cuda/device.hpp"

namespace rehearse::kernels::cuda {

using Shape = std::vector<std::pair<std::string, std::int64_t>>;

struct Sample {
    std::string what;
    Shape shape;
    std::string precision, algorithm;  // "" = nothing to say
    double flops = 0, bytes = 0;       // of one run
    std::vector<double> seconds;       // raw, in the order of measurement

    double median() const;
    double spread() const;  // (third - first quartile) / median
};

class Timing {
public:
    explicit Timing(CudaContext& context) : context_(context) {}

    // Runs `work`, which enqueues on the context's stream, 3 times to warm up and 21 times between events. Blocks.
    void measure(Sample sample, const std::function<void()>& work);

    const std::vector<Sample>& samples() const { return samples_; }

    // One line per sample: median, spread, rate, and the share of the best rate that a product, or a copy, reached
    // here.
    std::string table() const;
    // The samples as a calibration file (kernels/calibration); `date` is YYYY-MM-DD.
    std::string calibration(const DeviceProbe& device, const std::string& date) const;

private:
    double best_rate(double Sample::* amount, const std::string& what) const;

    CudaContext& context_;
    std::vector<Sample> samples_;
};

}  // namespace rehearse::kernels::cuda

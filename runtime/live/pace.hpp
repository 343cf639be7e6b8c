// Pace: how fast the cores are just now. A core's clock and its share of units and memory move with heat, with vector
// width and with what else runs on the processor, on a shared machine by half within seconds. So each step of a live
// run begins with the same two small pieces of work, outside its time: the steps with the best pace count, and a
// calibration and a run tell each other theirs.
//
//     compute   a bf16 product of 256 x 512 x 512 out of the second-level cache
//     memory    three arrays of 2 MiB, two read and one written
#pragma once

#include "kernels/array.hpp"
#include "kernels/cpu/context.hpp"
#include "runtime/live/expert_layer.hpp"

namespace rehearse {

struct Pace {
    double compute = 0, memory = 0;  // seconds of the two
};

class PaceProbe {
public:
    static constexpr std::int64_t rows = 256, side = 512;
    static constexpr std::size_t array = std::size_t{1} << 20;  // elements

    explicit PaceProbe(kernels::CpuContext& context);
    Pace run();

private:
    kernels::CpuContext& context_;
    kernels::Array<LiveElement> left_, right_, result_, arrays_;
};

}  // namespace rehearse

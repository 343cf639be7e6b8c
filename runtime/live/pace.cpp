#include "runtime/live/pace.hpp"

#include "kernels/cpu/elementwise.hpp"
#include "kernels/cpu/gemm.hpp"

namespace rehearse {

PaceProbe::PaceProbe(kernels::CpuContext& context)
    : context_(context), left_(rows * side), right_(side * side), result_(rows * side), arrays_(3 * array) {}

Pace PaceProbe::run() {
    using Clock = Communicator::Clock;
    const auto multiply = [&] {
        kernels::gemm(context_, kernels::Matrix<const LiveElement>(left_, rows, side),
                      kernels::Matrix<const LiveElement>(right_, side, side),
                      kernels::Matrix<LiveElement>(result_, rows, side));
    };
    multiply();  // its operands into the cache
    const Clock::time_point begin = Clock::now();
    multiply();
    const Clock::time_point middle = Clock::now();
    const std::span<LiveElement> all(arrays_);
    kernels::scale_add(context_, std::span<const LiveElement>(all.first(array)),
                       std::span<const LiveElement>(all.subspan(array, array)), 1.0f, all.last(array));
    const Clock::time_point end = Clock::now();
    const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
    return {seconds(middle - begin), seconds(end - middle)};
}

}  // namespace rehearse

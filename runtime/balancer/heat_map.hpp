// Tokens per expert over a sliding window of steps: what the slow planner forecasts from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

class HeatMap {
public:
    HeatMap(std::uint32_t experts, std::uint32_t window);

    void add(std::span<const std::uint64_t> tokens);  // of one step, reduced over all ranks; one count per expert
    std::uint32_t steps() const { return filled_; }   // in the window
    std::vector<double> mean() const;                 // tokens per expert and step; zeros before the first step
    std::span<const std::uint64_t> last() const;      // of the step added last

private:
    std::uint32_t experts_, window_;
    std::uint32_t next_ = 0, filled_ = 0;
    std::vector<std::uint64_t> counts_;  // window x experts, a ring of rows
    std::vector<std::uint64_t> sum_;
};

}  // namespace rehearse

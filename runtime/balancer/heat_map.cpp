#include "runtime/balancer/heat_map.hpp"

#include <algorithm>

#include "sim/base/checks.hpp"

namespace rehearse {

HeatMap::HeatMap(std::uint32_t experts, std::uint32_t window)
    : experts_(experts), window_(window), counts_(std::size_t{experts} * window), sum_(experts) {
    REHEARSE_CHECK(experts > 0 && window > 0, "a heat map of no experts or no steps");
}

void HeatMap::add(std::span<const std::uint64_t> tokens) {
    REHEARSE_CHECK(tokens.size() == experts_, "one count per expert");
    std::uint64_t* row = &counts_[std::size_t{next_} * experts_];
    for (std::uint32_t expert = 0; expert < experts_; ++expert) {
        sum_[expert] += tokens[expert] - row[expert];  // what stood there leaves the window
        row[expert] = tokens[expert];
    }
    next_ = (next_ + 1) % window_;
    filled_ = std::min(filled_ + 1, window_);
}

std::vector<double> HeatMap::mean() const {
    std::vector<double> mean(experts_, 0.0);
    for (std::uint32_t expert = 0; expert < experts_ && filled_ > 0; ++expert)
        mean[expert] = static_cast<double>(sum_[expert]) / filled_;
    return mean;
}

std::span<const std::uint64_t> HeatMap::last() const {
    const std::uint32_t row = (next_ + window_ - 1) % window_;
    return {&counts_[std::size_t{row} * experts_], experts_};
}

}  // namespace rehearse

// The bias without auxiliary loss of DeepSeek-V3: after each step the bias of every expert with more than the mean load
// goes down by `rate`, of every other up. Selection adds it to the score, weights don't see it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearse {

class SignBias {
public:
    explicit SignBias(std::uint32_t experts, float rate = 0.001f) : rate_(rate), bias_(experts, 0.0f) {}

    // Tokens per expert of the step, reduced over all ranks.
    void update(std::span<const std::uint64_t> tokens) {
        double sum = 0;
        for (const std::uint64_t count : tokens) sum += static_cast<double>(count);
        const double mean = sum / static_cast<double>(bias_.size());
        for (std::size_t e = 0; e < bias_.size(); ++e) {
            const double count = static_cast<double>(tokens[e]);
            bias_[e] += count > mean ? -rate_ : count < mean ? rate_ : 0.0f;
        }
    }
    std::span<const float> bias() const { return bias_; }

private:
    float rate_;
    std::vector<float> bias_;
};

}  // namespace rehearse

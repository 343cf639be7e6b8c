// The gate of one layer with its calibrator, as shares: which part of the assignments each expert is chosen for.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/gate_calibrator/sign_bias.hpp"
#include "runtime/moe/policy_spec.hpp"

namespace rehearse {

class CalibratedGate {
public:
    CalibratedGate(const CalibratorSpec& spec, std::uint32_t experts);
    // Proportional to share x exp(correction), summing to 1.
    std::vector<double> choose(std::span<const double> shares) const;
    // After a step: the gate's own shares and the tokens per expert that were chosen.
    void after_step(std::span<const double> shares, std::span<const std::uint64_t> tokens);

private:
    std::optional<GateCalibrator> load_aware_;
    std::optional<SignBias> sign_bias_;
};

}  // namespace rehearse
